"""The commands of live nodes, such as `halfway node`, `halfway pub`, `halfway net` and `halfway
ping`.
"""
