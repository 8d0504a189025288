--- Options tables: types, defaults, messages and whose line they blame.
local lu = require "luaunit"
local message_of = require "tools.message_of"
local options = require "ladies.base.options"

local tests = {}

local SPEC = {
  epochs = {"positive integer", 10},
  sizes  = "array of positive integers",
  method = {"wor|wr|poisson", "wor"},
  p      = {"number in [0, 1)", 0},
  lr     = {"positive number", 1e-3},
  clip   = {"number in (0, inf]", math.huge},
  resume = {"boolean", false},
  rng    = "Rng or nil",
  width  = {"positive integer or array of positive integers", 256},
  log    = "string or function or nil",
}

local function check(given) return options.check("ladies.train", given, SPEC) end

-- The message for `given`, without the place that it blames.
local function complaint(given) return message_of(check, given) end

function tests.test_defaults_fill_a_new_table()
  local given = {sizes = {64, 32}}
  local opts = check(given)
  lu.assertEquals(opts, {epochs = 10, sizes = {64, 32}, method = "wor", p = 0, lr = 1e-3,
    clip = math.huge, resume = false, width = 256})
  lu.assertEquals(given, {sizes = {64, 32}})
end

function tests.test_given_values_win()
  local opts = check{sizes = {}, epochs = 3, resume = true, method = "poisson", width = {1, 2},
    log = print}
  lu.assertEquals({opts.epochs, opts.resume, opts.method, opts.width, opts.log},
    {3, true, "poisson", {1, 2}, print})
end

--- With `quick` some have another default, which is checked as what is given is; that still wins.
function tests.test_quick_defaults()
  local spec = {quick = {"boolean", false}, runs = {"positive integer", 10, quick = 2},
    seconds = {"positive number or nil", quick = 0.5}, lists = {"array of strings", {"a", "b"},
      quick = {"a"}}}
  local function found(given) return options.check("f", given, spec) end
  lu.assertEquals(found{}, {quick = false, runs = 10, lists = {"a", "b"}})
  lu.assertEquals(found{quick = true}, {quick = true, runs = 2, seconds = 0.5, lists = {"a"}})
  lu.assertEquals(found{quick = true, runs = 7, lists = {}},
    {quick = true, runs = 7, seconds = 0.5, lists = {}})
  lu.assertErrorMsgContains("f: runs must be a positive integer, got 0.5", options.check, "f",
    {quick = true}, {quick = "boolean", runs = {"positive integer", 1, quick = 0.5}})
end

function tests.test_integral_floats_become_integers()
  local opts = check{sizes = {2^6}, epochs = 3.0}
  lu.assertEquals(math.type(opts.epochs), "integer")
  lu.assertEquals(math.type(opts.sizes[1]), "integer")
end

function tests.test_unknown_keys_name_the_nearest()
  lu.assertEquals(complaint{sizes = {}, epocs = 1},
    'ladies.train: unknown option "epocs"; did you mean "epochs"?')
  lu.assertEquals(complaint{sizes = {}, Method = "wr"},
    'ladies.train: unknown option "Method"; did you mean "method"?')
  lu.assertEquals(complaint{sizes = {}, xyzzy = 1}, 'ladies.train: unknown option "xyzzy"; the '
    .. "options are: clip, epochs, log, lr, method, p, resume, rng, sizes, width")
  lu.assertStrContains(complaint{{1, 2}}, "ladies.train: unknown option 1; the options are:")
end

function tests.test_wrong_values()
  local cases = {
    {{}, "sizes must be an array of positive integers, got nil"},
    {{sizes = 64}, "sizes must be an array of positive integers, got 64"},
    {{sizes = {64, 64, nil, 64}}, "sizes[3] must be a positive integer, got nil"},
    {{sizes = {64, 1.5}}, "sizes[2] must be a positive integer, got 1.5"},
    {{sizes = {64, x = 1}}, "sizes must be an array of positive integers, got a table"},
    {{sizes = {}, epochs = 0}, "epochs must be a positive integer, got 0"},
    {{sizes = {}, epochs = "3"}, 'epochs must be a positive integer, got "3"'},
    {{sizes = {}, p = 1}, "p must be a number in [0, 1), got 1"},
    {{sizes = {}, p = 0/0}, "p must be a number in [0, 1), got nan"},
    {{sizes = {}, lr = math.huge}, "lr must be a positive number, got inf"},
    {{sizes = {}, clip = 0}, "clip must be a number in (0, inf], got 0"},
    {{sizes = {}, resume = 1}, "resume must be true or false, got 1"},
    {{sizes = {}, method = "poison"},
      'method must be one of wor, wr, poisson, got "poison"; did you mean "poisson"?'},
    {{sizes = {}, method = 3}, "method must be one of wor, wr, poisson, got 3"},
    {{sizes = {}, rng = 7}, "rng must be an Rng, got 7"},
    {{sizes = {}, width = {1, -1}}, "width[2] must be a positive integer, got -1"},
    {{sizes = {}, width = "x"},
      'width must be a positive integer or an array of positive integers, got "x"'},
    {{sizes = {}, log = {}}, "log must be a string or a function, got a table"},
  }
  for _, case in ipairs(cases) do
    lu.assertEquals(complaint(case[1]), "ladies.train: " .. case[2])
  end
  lu.assertEquals(complaint(7), "ladies.train: the options must be a table, got 7")
  lu.assertEquals(complaint(setmetatable({}, {__name = "ladies.Dataset"})),
    "ladies.train: the options must be a plain table, got a Dataset")
end

function tests.test_classes_go_by_name()
  local rng = setmetatable({}, {__name = "ladies.Rng"})
  lu.assertIs(check{sizes = {}, rng = rng}.rng, rng)
  local other = setmetatable({}, {__name = "ladies.Index"})
  lu.assertEquals(complaint{sizes = {}, rng = other},
    "ladies.train: rng must be an Rng, got an Index")
  lu.assertEquals(complaint{sizes = other},
    "ladies.train: sizes must be an array of positive integers, got an Index")
end

function tests.test_callable()
  local function value(x) return options.value("here", "sampler", x, "callable") end
  local sampler = setmetatable({}, {__call = function() end})
  lu.assertIs(value(sampler), sampler)
  lu.assertIs(value(print), print)
  lu.assertFalse((pcall(value, {})))
end

function tests.test_errors_blame_the_user()
  local line = debug.getinfo(1, "l").currentline
  local _, message = pcall(function() options.check("here", 1, SPEC); return 0 end)
  lu.assertStrContains(message, ("test_options.lua:%d: here: "):format(line + 1))
end

function tests.test_names_of_other_libraries()
  local words = {"epochs", "lr", "learner"}
  lu.assertEquals(options.nearest("learning_rate", words), "lr")
  lu.assertEquals(options.nearest("--learning-rate", {"--lr", "--layers"}), "--lr")
  lu.assertEquals(options.nearest("num_epochs", words), "epochs")
  -- A list with something at every index (by a metatable) ends all the same.
  lu.assertNil(options.nearest("num_epochs", setmetatable({}, {__index = function() return 1 end})))
  lu.assertEquals(options.nearest("learning_rat", {"epochs"}), nil)
end

function tests.test_nearest()
  lu.assertErrorMsgContains("the list must be a table, got nil", options.nearest, "hiden")
  local words = {"hidden", "layers", "lr", "batch_size", "seed"}
  lu.assertEquals(options.nearest("hiden", words), "hidden")
  lu.assertEquals(options.nearest("alyers", words), "layers")
  lu.assertEquals(options.nearest("LR", words), "lr")
  lu.assertEquals(options.nearest("batch", words), "batch_size")
  lu.assertEquals(options.nearest("batch-size", words), "batch_size")
  lu.assertEquals(options.nearest("feature", {"feature_names", "features", "featured"}), "features")
  lu.assertEquals(options.nearest("name", {"name_of", "names_x", "names"}), "names")
  lu.assertEquals(options.nearest("lady", {"full", "ladies", "labour"}), "ladies")
  lu.assertNil(options.nearest("lady", {"full", "labour", "ladders_"}))
  lu.assertNil(options.nearest("dropout", words))
  lu.assertNil(options.nearest("", words))
  lu.assertNil(options.nearest("x", {}))
end

return tests
