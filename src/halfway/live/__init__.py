"""The live runtime: the handlers of the protocols on real sockets."""
