--- Units in which numbers are shown.

return {MIB = 1 << 20}
