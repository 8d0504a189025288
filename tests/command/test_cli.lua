--- Tests command lines: which are read, which are refused and how, and the help text.
local lu = require "luaunit"
local cli = require "ladies.command.cli"
local commands = require "ladies.command.commands"
local host = require "ladies_host"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"

local SPEC = {
  name = "ladies dummy",
  about = "Does nothing, in several ways.",
  {"batch-size", "N", "positive integer", default = 512, help = "seeds of a batch"},
  {"lr", "RATE", "positive number", help = "learning rate"},
  {"patience", "N", "non-negative integer", help = "batches"},
  {"method", "NAME", "ladies|full", default = "ladies", help = "how to sample"},
  {"out", "DIR", "string", help = "a folder"},
  {"sizes", "LIST", "array of positive integers", help = "numbers"},
  {"names", "LIST", "array of strings", help = "words"},
  {"debias", "BOOL", "boolean", help = "other weights"},
  {"quiet", help = "no progress"},
}

local tests = {}

local function refused(...)
  local ok, message = pcall(cli.parse, SPEC, {...})
  lu.assertFalse(ok)
  lu.assertNil(message:find "\n", 1, true)
  return message
end

function tests.test_defaults()
  local opts, given = cli.parse(SPEC, {})
  lu.assertEquals(opts, {batch_size = 512, method = "ladies"})
  lu.assertEquals(given, {})
end

function tests.test_both_ways_of_giving_a_value()
  local opts, given = cli.parse(SPEC,
    {"--batch-size", "64", "--lr=1e-2", "--quiet", "--out", "a=b"})
  lu.assertEquals(opts, {batch_size = 64, lr = 0.01, method = "ladies", quiet = true, out = "a=b"})
  lu.assertEquals(given, {batch_size = true, lr = true, quiet = true, out = true})
  lu.assertEquals(math.type(opts.batch_size), "integer")
end

--- A value whose name is in brackets may be left out where nothing follows that could be it.
function tests.test_values_that_may_be_left_out()
  local spec = cli.join({name = "ladies dummy"}, SPEC, {{"resume", "[DIR]", "string"}})
  for _, case in ipairs{
    {true, "--resume"}, {true, "--resume", "--quiet"}, {"a", "--resume", "a"}, {"-", "--resume=-"},
    {true, "--resume", "--", "--quiet"},
  } do
    spec.rest = "words"
    local opts, given = cli.parse(spec, {table.unpack(case, 2)})
    lu.assertEquals({opts.resume, given.resume}, {case[1], true})
  end
end

function tests.test_booleans()
  lu.assertIs(cli.parse(SPEC, {"--debias", "true"}).debias, true)
  lu.assertIs(cli.parse(SPEC, {"--debias=false"}).debias, false)
  lu.assertEquals(refused("--debias", "maybe"),
    'ladies dummy: --debias must be true or false, got "maybe"')
end

function tests.test_arrays()
  local opts = cli.parse(SPEC, {"--sizes", "5,64,512", "--names=cora,./x,7"})
  lu.assertEquals(opts.sizes, {5, 64, 512})
  lu.assertEquals(opts.names, {"cora", "./x", "7"})
  lu.assertEquals(cli.parse(SPEC, {"--sizes=3"}).sizes, {3})
  lu.assertEquals(refused "--sizes=5,x",
    'ladies dummy: --sizes[2] must be a positive integer, got "x"')
  lu.assertEquals(cli.parse(SPEC, {"--names", ",a,, b c ,"}).names, {"a", "b c"})
  lu.assertEquals(refused "--names=,", "ladies dummy: --names is empty: ,")
  lu.assertEquals(refused "--sizes=5,",
    'ladies dummy: --sizes[2] must be a positive integer, got ""')
end

--- A value may look like an option, but one of the command's is taken for that.
function tests.test_a_value_may_look_like_an_option()
  for _, args in ipairs{{"--out", "--quite"}, {"--out", "-5"}, {"--out=--quite"}} do
    lu.assertEquals(cli.parse(SPEC, args).out, args[2] or "--quite")
  end
  lu.assertEquals(cli.parse(SPEC, {"--out=--quiet"}).out, "--quiet")
  for _, following in ipairs{"--quiet", "--lr=3", "--help"} do
    lu.assertEquals(refused("--out", following), "ladies dummy: --out needs a value: DIR")
  end
end

--- An empty value, as from a variable of the shell that is not set, is refused.
function tests.test_an_empty_value_is_refused()
  lu.assertEquals(refused "--out=", "ladies dummy: --out is empty")
  lu.assertErrorMsgEquals("ladies dummy: --out is empty", cli.parse, SPEC, {"--out", ""})
end

function tests.test_the_last_one_counts()
  lu.assertEquals(cli.parse(SPEC, {"--lr", "1", "--lr", "2"}).lr, 2)
end

function tests.test_unknown_option()
  lu.assertEquals(refused "--patiense=3",
    "ladies dummy: unknown option --patiense; did you mean --patience?")
  lu.assertEquals(refused "--xyzzy", "ladies dummy: unknown option --xyzzy; --help lists them")
end

function tests.test_wrong_values()
  lu.assertEquals(refused("--batch-size", "0"),
    "ladies dummy: --batch-size must be a positive integer, got 0")
  lu.assertEquals(refused("--batch-size", "many"),
    'ladies dummy: --batch-size must be a positive integer, got "many"')
  lu.assertEquals(refused("--lr", "nan"), 'ladies dummy: --lr must be a positive number, got "nan"')
  lu.assertEquals(refused("--method", "lades"),
    'ladies dummy: --method must be one of ladies, full, got "lades"; did you mean "ladies"?')
end

function tests.test_missing_value_stray_word_and_flag_with_value()
  lu.assertEquals(refused "--lr", "ladies dummy: --lr needs a value: RATE")
  lu.assertStrContains(refused "wordnet", 'unexpected "wordnet"')
  lu.assertEquals(refused "--quiet=yes", "ladies dummy: --quiet takes no value")
end

-- SPEC with two words.
local function with_words()
  return tables.merged({words = {"run", "out"}}, SPEC)
end

--- A word that is no option may stand anywhere among the options, and after -- every argument is a
-- word.
function tests.test_words_among_options()
  local spec = with_words()
  for _, args in ipairs{
    {"a", "b", "--lr", "2"}, {"a", "--lr", "2", "b"}, {"--lr=2", "a", "b"}, {"--lr", "2", "a", "b"},
    {"--lr", "2", "--", "a", "b"}, {"a", "--lr", "2", "--", "b"},
  } do
    local opts, given = cli.parse(spec, args)
    lu.assertEquals(opts, {batch_size = 512, method = "ladies", lr = 2, run = "a", out = "b"})
    lu.assertEquals(given, {lr = true, run = true, out = true})
  end
  lu.assertEquals(cli.parse(spec, {"--", "--quiet", "-h"}),
    {batch_size = 512, method = "ladies", run = "--quiet", out = "-h"})
  lu.assertEquals(cli.parse(spec, {"-", "--out", "x", "x"}),
    {batch_size = 512, method = "ladies", run = "-", out = "x"})
end

--- A command may take any number of further words.
function tests.test_further_words()
  local spec = with_words()
  spec.words, spec.rest = {"run"}, "others"
  lu.assertEquals(cli.parse(spec, {"a", "b", "--lr", "2", "c", "--", "-x"}),
    {batch_size = 512, method = "ladies", lr = 2, run = "a", others = {"b", "c", "-x"}})
  lu.assertEquals(cli.parse(spec, {}).others, {})
  spec.words = nil
  lu.assertEquals(cli.parse(spec, {"a", "b"}).others, {"a", "b"})
end

function tests.test_wrong_words()
  for text, args in pairs{
    ['ladies dummy: unexpected "c"; options begin with --'] = {"a", "b", "--quiet", "c"},
    ['ladies dummy: unexpected "-x"'] = {"a", "-x"},
    ["ladies dummy: both b and --out c are given"] = {"--out", "c", "a", "b"},
    ["ladies dummy: --out is empty"] = {"a", ""},
  } do
    lu.assertErrorMsgContains(text, cli.parse, with_words(), args)
  end
end

function tests.test_help()
  lu.assertTrue(cli.parse(SPEC, {"--help"}).help)
  lu.assertTrue(cli.parse(SPEC, {"-h"}).help)
  local text = cli.help(SPEC)
  lu.assertStrContains(text, "usage: ladies dummy [options]")
  lu.assertStrContains(text, "--batch-size N  seeds of a batch (default 512)")
  lu.assertStrContains(text, "--help")
end

--- The help of every command fits the columns that there are, and has all of its words whole.
function tests.test_help_fits()
  for _, name in ipairs(commands.names()) do
    local spec = cli.spec_of(host.script(name))
    for _, width in ipairs(spec and {60, 80, 132} or {}) do
      local text, words = cli.help(spec, width), {}
      for line in text:gmatch "[^\n]+" do
        lu.assertTrue(utf8.len(line) <= width, ("%s at %d: %s"):format(name, width, line))
        for word in line:gmatch "%S+" do words[word] = true end
      end
      for _, option in ipairs(spec) do
        lu.assertTrue(words["--" .. option[1]], option[1])
        for word in option.help:gmatch "%S+" do
          local is_whole = words[word] or words["(" .. word .. ")"] or #word > width // 2
          lu.assertTrue(is_whole, ("%s at %d: %s"):format(name, width, word))
        end
      end
    end
  end
end

--- Help, lists and manuals are as wide as the terminal is, or COLUMNS says, and 80 columns wide in
-- a pipe.
function tests.test_widths()
  local function widest(words, env)
    local out = shell.succeeded(shell.run_ladies(words, {env = env}))
    local most = 0
    for line in out:gmatch "[^\n]+" do most = math.max(most, utf8.len(line)) end
    return most
  end
  for _, words in ipairs{{"train", "--help"}, {"help"}, {"help", "train"}, {"--help"},
      {"bench", "--help"}} do
    local most = widest(words, {"COLUMNS="})
    lu.assertTrue(most <= 80 and most > 70, table.concat(words, " ") .. most)
  end
  local most = widest({"train", "--help"}, {"COLUMNS=120"})
  lu.assertTrue(most > 110 and most <= 120, most)
end

--- Settings of one name that methods declare each with their own words are told in those.
function tests.test_help_of_a_name_that_two_have()
  local function told(method, option)
    local out = shell.run_ladies{"train", "--method", method, "--help"}
    return out:gsub("%s+", " "):match("%-%-" .. option .. " %u+ (.-%))")
  end
  lu.assertStrContains(told("rns", "parts"), "default one for 5000 nodes, at least 4)")
  lu.assertStrContains(told("clustergcn", "parts"), "default one for 250 nodes, at least 50)")
  lu.assertStrContains(told("pooled", "form"), "default mean)")
end

--- A name that nothing has is refused, with the nearest there is.
function tests.test_names_that_nothing_has()
  for kind, word in pairs{method = "ladie", model = "gnc", task = "node_classificatio",
    optimizer = "adamm"} do
    local _, err, status = shell.run_ladies{"train", "--" .. kind, word}
    lu.assertStrMatches(err, ("ladies train: %%-%%-%s must be one of [^\n]*; did you mean [^\n]*\n")
      :format(kind))
    lu.assertEquals(status, 2)
  end
end

--- The help shows the options of the method and the network that were named together, and of all
-- others the names alone.
function tests.test_help_of_a_method()
  local out = shell.run_ladies{"train", "--method", "graphsage", "--model", "gcnii", "--help"}
  local own = out:match "\nthe method graphsage:\n(.-)\n\n"
  lu.assertStrContains(own, "\n  --form WORD ")
  lu.assertStrContains(own:gsub("%s+", " "), "method graphsage 5")
  lu.assertNil(own:find("--draw", 1, true))
  lu.assertNil(own:find "vrgcn")
  lu.assertStrContains(out:match "\nthe network gcnii:\n(.-)\n\n", "--alpha X ")
  local others = out:match "\nother methods, networks and tasks have:\n(.*)"
  lu.assertStrContains(others, "--draw, ")
  lu.assertNil(others:find("--form", 1, true))
  local all = shell.run_ladies{"train", "--help"}
  lu.assertStrContains(all:match "\nthe method:\n(.-)\n\n", "--draw WORD ")
  lu.assertNil(all:find "other methods")
end

--- On a terminal a command's text keeps its lines, and what could move the cursor is made visible.
function tests.test_printed_on_a_terminal()
  local script <close> = shell.file [[
local cli = require "ladies.command.cli"
cli.main({name = "dummy", about = "Prints."}, arg, function() print("one\ntwo\27[2J", 3) end)
]]
  lu.assertNil(shell.talk("expect one\\r\\ntwo\\\\x1b[2J\\t3\\r\\n\nexit 0\n", {script.path}))
end

return tests
