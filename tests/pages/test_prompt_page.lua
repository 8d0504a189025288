--- doc/prompt.md: its transcripts are what the prompt answers today.

local lu = require "luaunit"
local files = require "tools.files"
local transcripts = require "tools.transcripts"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

function tests.test_transcripts()
  local page = files.read(root .. "/doc/prompt.md")
  local filled, n = transcripts.filled(page)
  lu.assertTrue(n > 25, n)
  lu.assertEquals(filled, page, "ladies tests/tools/fill_transcripts.lua doc/prompt.md makes it")
end

return tests
