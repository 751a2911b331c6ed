"""Workloads of groups: members, their announcements, messages and requests, and monitoring."""
