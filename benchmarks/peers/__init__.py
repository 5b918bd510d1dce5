"""Everybody to stand beside, best known first."""

from benchmarks.peers import libraries, loops, opencl
from benchmarks.peers.peer import OpenPeer, Peer, PeerUnavailable

__all__ = ["PEERS", "OpenPeer", "Peer", "PeerUnavailable"]

PEERS: tuple[Peer, ...] = (*opencl.PEERS, *loops.PEERS, *libraries.PEERS)
