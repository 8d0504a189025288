--- Tests the rules for every page: it opens with what one can do with it, and all together are
-- short enough to be read.

local lu = require "luaunit"
local files = require "tools.files"
local pages = require "tools.pages"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

-- Commands write these, and README.md and the changelog have forms of their own.
local OTHERWISE = {
  ["README.md"] = true, ["doc/CHANGELOG.md"] = true, ["doc/reference.md"] = true,
  ["doc/reproduction.md"] = true, ["doc/followers.md"] = true,
}

-- Results, which grow with what is measured, the lists of the reference, and the changelog.
local NOT_COUNTED = {
  ["doc/commands.md"] = true, ["doc/reference.md"] = true, ["doc/CHANGELOG.md"] = true,
  ["doc/reproduction.md"] = true, ["doc/followers.md"] = true,
  ["doc/gallery.md"] = true, ["doc/benchmarks.md"] = true, ["doc/story.md"] = true,
}
local MOST_WORDS = 60000

--- The first paragraph is one plain sentence.
function tests.test_they_open_with_what_one_can_do()
  local count = 0
  for _, page in ipairs(pages()) do
    if not OTHERWISE[page] then
      local first = files.read(root .. "/" .. page):match "^# [^\n]+\n\n(.-)\n\n"
      local what = page .. " opens otherwise: " .. tostring(first)
      local rest = first and (first:match "^After this page you %l+ (.+)$"     -- can, know
        or first:match "^With this page you can (.+)$")
      lu.assertNotNil(rest, what)
      lu.assertStrMatches(rest, "%l[^.!?:;]*%.", nil, nil, what)
      lu.assertTrue(select(2, rest:gsub("%S+", "")) <= 30, what)
      count = count + 1
    end
  end
  lu.assertTrue(count > 20, count)
end

--- An evening's course and what one looks up, outside of the reference and results.
function tests.test_they_are_short_enough()
  local words = 0
  for _, page in ipairs(pages()) do
    if not NOT_COUNTED[page] then
      words = words + select(2, files.read(root .. "/" .. page):gsub("%S+", ""))
    end
  end
  lu.assertTrue(words <= MOST_WORDS, words .. " words")
end

return tests
