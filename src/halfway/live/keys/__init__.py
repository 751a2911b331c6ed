"""Keys: identities, certificates, sessions and permissions of a network's nodes.

`KeyedSecurity` is the `Security` of a node that has a certificate, or that knows the secret of a
small network. The module `member_files` reads and writes what `halfway net` manages.
"""
