--- Tests JSON as the program writes it: sorted, indented, exact numbers; and as it reads it.
local lu = require "luaunit"
local json = require "ladies.base.json"

local tests = {}

function tests.test_one_line()
  lu.assertEquals(json.encode{b = {1, 2.5, {x = true}}, a = 'say "x"\n', c = {}},
    '{"a":"say \\"x\\"\\n","b":[1,2.5,{"x":true}],"c":{}}')
end

--- Lists of plain values stay on their line; every level of others is one indent further in.
function tests.test_indented()
  lu.assertEquals(json.encode({list = {{name = "x", sizes = {1, 2}}, {deep = {{1}, {2, 3}}}}}, " "),
    [[
{
 "list": [
  {
   "name": "x",
   "sizes": [1, 2]
  },
  {
   "deep": [
    [1],
    [2, 3]
   ]
  }
 ]
}]])
end

--- Digits in a text or a name stay as they are, whatever quotes and backslashes are around them.
function tests.test_digits_within_texts()
  local digits = "1234567890123456"
  for _, text in ipairs{digits, '"' .. digits, digits .. '"', "\\" .. digits, digits .. "\\",
      '\\"' .. digits .. '\\\\"', 'x\\" : ' .. digits} do
    local made = {[text] = {text, 1234567890123456789, text}}
    lu.assertEquals(json.decode(json.encode(made)), made)
  end
end

function tests.test_numbers_read_back()
  for _, x in ipairs{0, -1, 0.1, 1 / 3, 1e300, 5e-324, 2 ^ 53, math.maxinteger, math.mininteger,
      123456789012345678} do
    local again = json.decode(json.encode{x})[1]
    lu.assertEquals(again, x)
  end
  lu.assertEquals(math.type(json.decode("[9007199254740993]")[1]), "integer")
  lu.assertEquals(json.decode '["9007199254740993", "\\"1234567890123456"]',
    {"9007199254740993", '"1234567890123456'})
  lu.assertEquals(json.encode{0 / 0, 1 / 0, -1 / 0}, "[null,null,null]")
end

--- Encoding goes by a table's own length, whatever a metamethod says.
function tests.test_the_length_is_the_tables_own()
  local endless = setmetatable({}, {__len = function() return 1 << 40 end})
  lu.assertEquals(json.encode{a = endless}, '{"a":{}}')
end

--- No field of a table is left out because it has elements, too.
function tests.test_elements_beside_fields()
  lu.assertEquals(json.encode{"random", columns = 8}, '{"1":"random","columns":8}')
  lu.assertEquals(json.encode{[1] = "a", [3] = "c"}, '{"1":"a","3":"c"}')
end

function tests.test_nulls_are_absent()
  lu.assertEquals(json.decode '{"a": null, "b": [1, null]}', {b = {1}})
end

function tests.test_errors_name_the_text()
  lu.assertErrorMsgContains("x.json is not valid JSON", json.decode, "{", "x.json")
  lu.assertErrorMsgContains("the text is not valid JSON", json.decode, "return 1")
end

return tests
