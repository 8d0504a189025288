--- Fails when a file whose arrays are used where they lie (mapped into memory) has been overwritten
-- since it was opened, because numbers then change in the midst of a computation.

local core = require "ladies_core"
local errors = require "ladies.base.errors"

local mapped_files = {}

local TEXT = "%s: was overwritten (or touched) while it was in use: what was computed from it "
  .. "since then may be of two contents; load it anew"

--- Fails if any mapped file was overwritten since it was opened, also one whose arrays are all
-- garbage that has not been collected yet.
function mapped_files.check_all()
  local name = core.file.changed()
  if name then errors.fail(TEXT:format(name)) end
end

--- ladies.data.check_files(): fails where another program wrote to a file that is in use. Large
-- arrays of .npz and .safetensors files are not read but used where they lie, so that numbers would
-- change in the midst of a computation. ladies.train, ladies.batches (at every mini-batch, for the
-- one before), ladies.inference and ladies.lab call it before they give anything back; a program of
-- one's own calls it before it keeps a result. It costs about a microsecond for each file. A file
-- counts as overwritten when its size or the time of its last change is another one than when it
-- was opened, so after `touch`, too; not when another file has taken its place: the one that is in
-- use is then as it was.
function mapped_files.check()
  if not core.file.changed() then return end
  collectgarbage()      -- the garbage may be of a file that was loaded anew since
  collectgarbage()
  mapped_files.check_all()
end

return mapped_files
