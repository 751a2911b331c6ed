"""The commands of live nodes: `node`, `pub`, `sub`, `spy`, `scout`, `status`, `ping` and traces."""
