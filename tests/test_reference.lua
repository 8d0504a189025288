--- doc/reference.md is what `ladies reference` writes, and every public function has a docstring.
local lu = require "luaunit"
local files = require "tools.files"

local tests = {}

local function written()
  local pipe = assert(io.popen(("'%s' reference"):format(os.getenv "LADIES_BIN")))
  local text = pipe:read "a"
  lu.assertTrue(pipe:close())
  return text
end

function tests.test_it_is_up_to_date()
  local file = os.getenv "LADIES_SOURCE" .. "/doc/reference.md"
  lu.assertTrue(written() == files.read(file), "write it anew: ladies reference > doc/reference.md")
end

function tests.test_every_function_is_documented()
  for heading in written():gmatch "### ([^\n]+)\n\n```\nno documentation\n" do
    lu.fail(heading .. " has no docstring")
  end
end

return tests
