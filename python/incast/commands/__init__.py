"""The commands of ``incast``, a file each; ``cli`` puts them together."""
