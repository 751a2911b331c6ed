"""The pipeline: sweeps as data, in the steps plan, simulate, measure and judge. Only this room uses
Spark.
"""
