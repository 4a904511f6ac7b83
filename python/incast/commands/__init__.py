"""Commands of ``incast``, one file each; ``cli`` assembles them."""
