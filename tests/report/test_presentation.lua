--- Pictures in files of their own look as pages show them: the attributes of each element are what
-- the style sheet of pages says of it.
local lu = require "luaunit"
local palette = require "ladies.report.palette"
local presentation = require "ladies.report.presentation"

local tests = {}

-- Returns the rules of the style sheet for pages: an array of {selectors = {name = true},
-- properties = {{name, value}, ...}}.
local function rules_of_pages()
  local rules = {}
  for selectors, properties in presentation.rules "page":gmatch "([^\n]-) { (.-) }\n" do
    local rule = {selectors = {}, properties = {}}
    for selector in selectors:gmatch "page (%S-)%f[,\0]" do rule.selectors[selector] = true end
    for name, value in properties:gmatch "([%l-]+): (.-);" do
      table.insert(rule.properties, {name, value})
    end
    rules[#rules + 1] = rule
  end
  return rules
end

-- Returns the properties that a browser gives to an element on a light page, where its series has
-- the colour `own`: a class outweighs a name, and a later rule an earlier one.
local function shown_in_pages(rules, name, class, own)
  local found = {}
  for _, selector in ipairs{name, "." .. class} do
    for _, rule in ipairs(rules) do
      for _, property in ipairs(rule.selectors[selector] and rule.properties or {}) do
        found[property[1]] = property[2] == "currentColor" and own
          or palette.on_white(property[2]:match "^var%(%-%-(.*)%)$") or property[2]
      end
    end
  end
  return found
end

-- Returns the attributes of the last element of a picture; fails where one occurs twice.
local function attributes_of(svg)
  local found = {}
  for name, value in svg:match "<%a+([^<>]-)/?>[^<]*$":gmatch '([%l-]+)="([^"]*)"' do
    lu.assertNil(found[name], svg)
    found[name] = value
  end
  return found
end

function tests.test_every_element_looks_as_in_pages()
  local rules, classes, names = rules_of_pages(), {""}, {"g"}
  for _, rule in ipairs(rules) do
    for selector in pairs(rule.selectors) do
      local class = selector:match "^%.(.*)"
      table.insert(class and classes or names, class or selector)
    end
  end
  lu.assertTrue(#rules > 10 and #classes > 10 and #names > 5)
  for _, name in ipairs(names) do
    for _, class in ipairs(classes) do
      local want = shown_in_pages(rules, name, class, palette.on_white "c3")
      want.class, want.x = class, "1"
      local svg = ('<g class="c3"><%s class="%s" x="1"/>'):format(name, class)
      lu.assertEquals(attributes_of(presentation.written(svg)), want)
    end
  end
end

--- The colour of a series is that of the innermost element around that names one, and ink outside.
function tests.test_colours_of_series()
  local function strokes(svg)
    local list = {}
    for colour in presentation.written(svg):gmatch ' stroke="([^"]*)"' do
      list[#list + 1] = colour
    end
    return list
  end
  local function colours(...)
    local list = {...}
    for i, name in ipairs(list) do list[i] = palette.on_white(name) end
    return list
  end
  lu.assertEquals(strokes('<line/><g class="c2"><line/><g><line/></g><g class="c1"><line/></g>'
    .. '<g/><svg><line/></svg><line class="x c4"/><line/></g><line/>'),
    colours("ink", "c2", "c2", "c1", "c2", "c4", "c2", "ink"))
end

return tests
