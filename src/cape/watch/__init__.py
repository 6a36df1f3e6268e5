"""What goes on: looks at batch after batch, and rows that come one by one."""

from cape.watch._stream import RollingCape
from cape.watch._watch import Watch

__all__ = ["RollingCape", "Watch"]
