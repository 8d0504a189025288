--- Tests the answers to a notebook's kernel (ladies.prompt.notebook) without Python: requests come
-- from a file, and messages go into another.
local lu = require "luaunit"
local files = require "tools.files"
local json = require "ladies.base.json"
local shell = require "tools.shell"
local show = require "ladies.show"
local tables = require "ladies.base.tables"

local tests = {}

-- The messages that come of some requests, without their numbers, and what was printed. A request
-- that is a number is the line for a message.
local function talk(requests)
  local folder <close> = shell.folder()
  local lines = tables.map(requests, function(request) return json.encode(request) .. "\n" end)
  local asked = files.write(folder.path .. "/requests", table.concat(lines))
  local told = files.write(folder.path .. "/messages", "")
  local out = shell.silent(shell.run_ladies{"-e",
    ("return require('ladies.prompt.notebook').serve(%q, %q)"):format(asked, told)})
  local messages = tables.map(files.lines(told), function(line) return json.decode(line) end)
  for _, message in ipairs(messages) do message.n = nil end
  return messages, out
end

local function execute(code) return {op = "execute", code = code} end

-- The messages of one cell but for its reply, which is of no error.
local function shown(code)
  local messages = talk{execute(code), 1, 2, 3}
  lu.assertEquals(table.remove(messages), {kind = "reply"})
  return messages
end

--- The prompt's semantics: locals live on, an expression at the end is a result, _ is the last one.
function tests.test_cells()
  local messages, out = talk{
    execute "local n = 20\nlocal function more() n = n + 1; return n end\nprint(n)\nmore()",
    1, execute "_ + n, __", 2,
    execute "n = nil",
    execute "",
    execute "?no.such.name",
  }
  lu.assertEquals(messages, {
    {kind = "display", result = true, data = {["text/plain"] = "21"}}, {kind = "reply"},
    {kind = "display", result = true, data = {["text/plain"] = "42, nil"}}, {kind = "reply"},
    {kind = "reply"},
    {kind = "reply"},
    {kind = "reply", error = messages[7].error},
  })
  lu.assertStrContains(messages[7].error, 'ladies has no field "no"')
  lu.assertEquals(out, "20\n")
end

--- A cell shows the value of the expression at its end, also of a call over several lines, but of
-- nothing that only looks like one.
function tests.test_the_value_of_a_cell()
  local cells = {
    {"local t = {}\nmath.max(\n  3,\n  4\n)", "4"},
    {"local t = 1\n  tostring{\n}:sub(1, 5)", '"table"'},
    {"function f(a)\n  return a\nend\nf 'x'", '"x"'},
    {"x = 1; x", "1"},
    {"x = 2\nx -- it", "2"},
    {"x = 3; f(x)"},
    {"if x then\n  f(x)\nend"},
    {"f(7) -- not; f(1)", "7"},
    {"f(x)\ndo f(1) end -- not; f(2)"},
    {"s = [[\nf(1)\n]]"},
    {"local g = f\n(1)"},
  }
  for _, cell in ipairs(cells) do
    local messages = talk{execute "f = function(a) return a end", execute(cell[1]), 1}
    local value = messages[3] and messages[2].data["text/plain"]
    lu.assertEquals(value, cell[2], cell[1])
    lu.assertEquals(messages[#messages], {kind = "reply"})
  end
end

--- An error names the line of the cell, also behind statements, and cells after it run.
function tests.test_errors()
  local messages = talk{
    execute "local x = 1\nlocal w = ladies.ones(2, 3)\nw:matmul(w)",
    execute "x = = 1",
    execute [[error(setmetatable({}, {__tostring = function()   -- Ctrl-C stops no explanation
      io.popen "kill -INT $PPID":close()
      return "own"
    end}))]],
    execute "error {}",
    execute "x", 1,
    execute "local function deep(i) return 1 + deep(i) end deep(3)",
    execute "setmetatable(_G, {__index = error}); no_such_name()",
  }
  lu.assertEquals(messages[1].error, table.concat({"stdin:3: matmul: (2 x 3) * (2 x 3)",
    "  3 | w:matmul(w)", "    | w = Tensor 2 x 3", "  where() shows the stack"}, "\n"))
  lu.assertStrContains(messages[2].error, "unexpected symbol near '='")
  lu.assertStrContains(messages[3].error, "own")
  lu.assertStrContains(messages[4].error, "(error object is a table value)")
  lu.assertEquals(messages[5].data, {["text/plain"] = "1"})
  lu.assertStrContains(messages[7].error, "stack overflow")
  lu.assertIsString(messages[8].error)
  lu.assertEquals(#messages, 8)
end

function tests.test_completion_and_inspection()
  local code = 'local h = "\u{e9}"\nladies.schedule.cos'
  local messages = talk{
    {op = "complete", code = code .. "(", at = utf8.len(code)},
    {op = "complete", code = "nothing.at.all", at = 14},
    {op = "inspect", code = code .. "ine{batches = 10}", at = utf8.len(code) - 1},
    {op = "inspect", code = 'h = "\u{e9}"; ladies.schedule.cosine{batches = 10}', at = 40},
    {op = "inspect", code = "nothing", at = 3},
    execute "local t = {ladies.ones(2, 2)}; local n = 7",
    {op = "inspect", code = "n", at = 1},
    {op = "inspect", code = "t[1]:matmul(", at = 12},
    {op = "inspect", code = "for x in y do", at = 3},
  }
  local cosine = "schedule.cosine{batches = n, floor = 0} -> function: half a cosine"
  lu.assertEquals(messages[1], {kind = "reply", matches = {"cosine"}, from = 30})
  lu.assertEquals(messages[2].matches, {})
  lu.assertStrContains(messages[3].text, cosine)
  lu.assertStrContains(messages[4].text, cosine)
  lu.assertEquals(messages[5], {kind = "reply"})
  lu.assertEquals(messages[7].text, "7")
  lu.assertStrContains(messages[8].text, "The product of two matrices")
  lu.assertEquals(messages[9], {kind = "reply"})
end

function tests.test_whether_a_cell_is_complete()
  local statuses = {}
  for i, message in ipairs(talk{
    {op = "is_complete", code = "for i = 1, 2 do"}, {op = "is_complete", code = "x = 1; x"},
    {op = "is_complete", code = "x = = 1"}, {op = "is_complete", code = "?nn.gcn"},
    {op = "is_complete", code = "error 'it is not run'"}}) do
    statuses[i] = message.status
  end
  lu.assertEquals(statuses, {"incomplete", "complete", "invalid", "complete", "complete"})
end

function tests.test_bars_and_what_stands_above_them()
  local messages, out = talk{execute [[
    local bar = ladies.progress{total = 4, clock = function() return 0 end}
    bar:update(1, 1)
    bar:line "kept"
    bar:update(3, 2)
    bar:clear()]], 1, 2, 3, 4}
  local texts = {}
  for i = 1, 4 do
    lu.assertEquals(messages[i].kind, "bar")
    texts[i] = messages[i].text:match "^[^%]]*%]?"
  end
  lu.assertEquals(texts, {"batch 1/4 [======                  ]", "",
    "batch 3/4 [==================      ]", ""})
  lu.assertEquals(messages[5], {kind = "reply"})
  lu.assertEquals(out, "kept\n")
end

function tests.test_displays()
  local messages = shown [[
    display(1, ladies.ones(1, 2))
    ladies.plot.figure{title = "a < b", series = {{name = "f & g", points = {{1, 2}, {2, 5}}}}}]]
  lu.assertEquals(messages[1].data, {["text/plain"] = "1"})
  lu.assertEquals(messages[2].data["text/html"], table.concat({"<p>Tensor 1 x 2, all 1</p><table>",
    "<thead><tr><th></th><th>1</th><th>2</th></tr></thead>", "<tbody>",
    "<tr><th>1</th><td>1</td><td>1</td></tr>", "</tbody></table>"}, "\n"))
  local svg = messages[3].data["image/svg+xml"]
  lu.assertTrue(messages[3].result)
  lu.assertStrContains(svg, "<svg xmlns")
  lu.assertStrContains(svg, ">a &lt; b</text>")
  lu.assertStrContains(svg, ">f &amp; g</text>")
  lu.assertStrContains(svg, '<path class="line" d="M')
end

-- Tells whether the tags of a text of HTML are closed in their order.
local function is_well_formed(text)
  local open = {}
  for slash, name, rest in text:gmatch "<(/?)(%w+)([^>]*)>" do
    if slash == "/" then
      if table.remove(open) ~= name then return false end
    elseif rest:sub(-1) ~= "/" then
      open[#open + 1] = name
    end
  end
  return #open == 0
end

--- Values that show themselves as HTML show all that their text says, and no name adds markup.
function tests.test_html()
  local History = require "ladies.training.record.history"
  local Report = require "ladies.report"
  local Table = require "ladies.report.table"
  local ladies = require "ladies"
  local history = History.new({{batch = 10, seconds = 1, loss = 2.5, value = 0.25},
    {batch = 20, seconds = 2, value = 0.75}}, "micro-<F1>")
  local scores = Table.new{"method", "F1 %"}
  scores:add{"<i>own</i>", 76.5}
  local report = Report.new("x", "/nonexistent", "title")
  report:heading "Scores"
  report:table(scores)
  local pages = {
    {ladies.ones(20, 20), {"<p>Tensor 20 x 20, all 1</p>", "<th>10</th>", "<td>...</td>"}},
    {ladies.nn.gcn{inputs = 5, outputs = 3, layers = 2, hidden = 4},
      {"GcnConv 5 -&gt; 4, relu", ">conv.bias 4, conv.weight 5 x 4</td>"}},
    {history, {"<td>2.5000</td>", "micro-&lt;F1&gt;", "<svg xmlns"}},
    {ladies.summary{method = "ladies", test_f1 = 0.765, test_macro_f1 = 0.5, history = history,
      stopped = "patience"}, {"<td>76.50 %</td>", "<svg xmlns",
        ">  macro-F1     0.5000 on the test part\n  ended by     patience</pre>"}},
    {report, {"<h3>Scores</h3>", ">&lt;i&gt;own&lt;/i&gt;</th>", "<td>76.5</td>"}},
  }
  for _, page in ipairs(pages) do
    local text = show.rich(page[1])["text/html"]
    for _, part in ipairs(page[2]) do lu.assertStrContains(text, part) end
    lu.assertTrue(is_well_formed(text), text)
  end
  lu.assertEquals(show.rich(7), {})
  lu.assertEquals(show.rich "text", {})
  lu.assertEquals(show.rich(ladies.ones(3)), {})
end

return tests
