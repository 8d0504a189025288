--- Fixtures in .npz, of which some are packed as a whole (tests/fixtures/packed.py).
local core = require "ladies_core"
local ladies = require "ladies"
local temporary = require "reference.temporary"

local folder = os.getenv "LADIES_SOURCE" .. "/tests/fixtures/"

local fixture = {}

--- Returns the path of tests/fixtures/NAME.npz, or of the file that NAME.npz.gz unpacks to.
function fixture.path(name)
  local packed = ("%s%s.npz.gz"):format(folder, name)
  if not core.exists(packed) then return ("%s%s.npz"):format(folder, name) end
  local path = temporary.path(name .. ".npz")
  if not core.exists(path) then core.zip.gunzip(packed, path) end
  return path
end

--- Opens the archive of the fixture with this name.
function fixture.open(name) return ladies.npz.open(fixture.path(name)) end

return fixture
