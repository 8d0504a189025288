--- Texts within the columns of a terminal (ladies.base.wrap_paragraphs).
local lu = require "luaunit"
local help = require "ladies.prompt.help"
local ladies = require "ladies"
local wrap_paragraphs = require "ladies.base.wrap_paragraphs"

local tests = {}

local TEXT = [[
f(x) -> y: the first of all numbers that
are larger
than x.

name       what it is called, in the words
           of its author
n          how many
    p(u) = q(u)
    r(u) = p(u)
end]]

function tests.test_what_fits_stays()
  lu.assertEquals(wrap_paragraphs(TEXT, 42), TEXT)
  lu.assertEquals(wrap_paragraphs("", 10), "")
  lu.assertEquals(wrap_paragraphs("one\n\n", 10), "one\n\n")
end

--- Paragraphs and items are filled anew; empty lines, formulas and what fits stand as they stood.
function tests.test_what_does_not()
  lu.assertEquals(wrap_paragraphs(TEXT, 32), [[
f(x) -> y: the first of all
numbers that are larger than x.

name       what it is called, in
           the words of its
           author
n          how many
    p(u) = q(u)
    r(u) = p(u)
end]])
  local formula = "    alpha = beta + gamma * delta"
  lu.assertEquals(wrap_paragraphs(formula, 26), "    alpha = beta + gamma *\n    delta")
end

--- Characters are counted, not bytes.
function tests.test_characters()
  local line = ("\u{e9} "):rep(12) .. "\u{e9}"
  lu.assertEquals(wrap_paragraphs(line, 25), line)
  lu.assertEquals(wrap_paragraphs(line, 24), ("\u{e9} "):rep(11) .. "\u{e9}\n\u{e9}")
end

--- All documentation fits, but for words that are longer than a line, and has its words still.
function tests.test_the_documentation()
  for _, f in ipairs{ladies.train, ladies.samplers.fastgcn} do
    local text = help.text(f)
    local narrow = wrap_paragraphs(text, 60)
    for line in narrow:gmatch "[^\n]+" do lu.assertTrue(utf8.len(line) <= 60, line) end
    lu.assertEquals(narrow:gsub("%s+", " "), (text:gsub("%s+", " ")))
  end
end

return tests
