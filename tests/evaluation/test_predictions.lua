--- Predictions of many nodes are written in pieces, so that few of the logits are in memory.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local predictions = require "ladies.evaluation.predictions"

local tests = {}

local NODES, CLASSES = 40000, 64
local LOGITS = 4 * NODES * CLASSES        -- bytes

local data = ladies.generate.power_law{nodes = NODES, entries = 2 * NODES, features = 2,
  classes = CLASSES, train = 0.4, val = 0.2}

-- Writes the predictions of all nodes by logits of exact inference that has so many bytes of
-- memory. Returns the text, the largest piece of it, and the most bytes that tensors had at a time.
local function written(memory)
  local task, pieces, largest = ladies.task.node_classification(data), {}, 0
  local model = ladies.nn.sgc{inputs = 2, outputs = CLASSES, layers = 1}
  model:parameters()[1]:normal_(1, ladies.rng(1))
  ladies.memory_trim()
  local before = core.memory().total
  ladies.inference.way{memory = memory}.room:within(function()
    local logits = ladies.inference.exact(model, data, {nodes = task.all})
    predictions.write_csv(task, task.all, logits, function(text)
      pieces[#pieces + 1], largest = text, math.max(largest, #text)
    end)
  end)
  return table.concat(pieces), largest, core.memory().peak - before
end

--- The text is the same, and what is held does not grow with the logits.
function tests.test_little_is_in_memory()
  local expected, _, all = written "1G"
  local text, largest, peak = written(LOGITS // 10)
  lu.assertTrue(text == expected)
  lu.assertEquals(select(2, text:gsub("\n", "")), NODES + 1)
  lu.assertTrue(largest < #text / 2, largest)
  lu.assertTrue(all > LOGITS, all)
  lu.assertTrue(peak < LOGITS / 2, peak)
end

--- Where there is no room for what is computed, a line says once what helps, also for inference in
-- it.
function tests.test_lack_of_room()
  local room = ladies.inference.way{memory = 1, folder = "/no/such/folder"}.room
  local model = ladies.nn.sgc{inputs = 2, outputs = CLASSES, layers = 1}
  for _, call in ipairs{{core.zeros, 1000, 100}, {ladies.inference.exact, model, data}} do
    local message = message_of(room.within, room, table.unpack(call))
    lu.assertStrContains(message, "/no/such/folder: No such file or directory; more memory")
    lu.assertEquals(select(2, message:gsub(" helps", "")), 1, message)
  end
end

--- A node that is in two parts of the split counts to the later one, and one in none to none.
function tests.test_parts()
  local small = ladies.generate.power_law{nodes = 4, entries = 6, features = 2, classes = 2}
  small.train, small.val, small.test = ladies.index{1}, ladies.index{2, 4}, ladies.index{4}
  local task, pieces = ladies.task.node_classification(small), {}
  predictions.write_csv(task, ladies.index{4, 3, 2, 1}, ladies.zeros(4, 2), function(text)
    pieces[#pieces + 1] = text:gsub("(%d+),[^\n]*,(%a*)\n", "%1 %2\n")
  end)
  lu.assertEquals(table.concat(pieces):match "\n(.*)", "3 test\n2 \n1 val\n0 train\n")
end

return tests
