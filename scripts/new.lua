-- ladies new: writes a file to begin a sampler, a model, a task or an optimizer of one's own with
--
--   ladies new sampler NAME [--like ladies|graphsage|subgraph|adaptive]
--   ladies new model NAME
--   ladies new task NAME
--   ladies new optimizer NAME
--
-- NAME.lua is short, commented, and works as it is. A sampler is written layer by layer (ladies),
-- node by node (graphsage), draws its own seeds (subgraph), or learns from training (adaptive). A
-- file that is there is never overwritten. doc/extending.md says what such a file may have.

local cli = require "ladies.command.cli"
local options = require "ladies.base.options"
local templates = require "ladies.command.templates"

-- The advice on what to do next with a file, by its kind; %s is its path.
local NEXT = {
  sampler = [[
examine it       ladies lab %s --dataset wordnet
train with it    ladies train wordnet --method %s --layers 2
at the prompt    ladies.lab("./%s", {dataset = "wordnet"}); after a change of the file: reload()]],
  model = [[
train it         ladies train wordnet --model %s --layers 2
at the prompt    ladies.experiment.own{model = "./%s"}; after a change of the file: reload()]],
  task = [[
train for it     ladies train wordnet --task %s --layers 2
at the prompt    ladies.train{data = "wordnet", task = "./%s", layers = 2}]],
  optimizer = [[
train with it    ladies train wordnet --optimizer %s --layers 2 --lr 0.1
at the prompt    ladies.train{data = "wordnet", optimizer = "./%s", layers = 2, lr = 0.1}]],
}

cli.main({
  name = "ladies new",
  usage = "ladies new sampler|model|task|optimizer NAME [options]", words = {"kind", "name"},
  about = [[Writes NAME.lua, a sampler, a model, a task or an optimizer of one's own to begin with:
    it works as it is.]],
  {"like", "WHAT", table.concat(templates.choices "sampler", "|"),
    help = "of a sampler: layer by layer as ladies, node by node as graphsage, a subgraph with its "
      .. "own seeds, or adaptive, which learns from training (default ladies)"},
}, arg, function(opts)
  if not (opts.kind and opts.name) then
    error("what, and called what? ladies new sampler NAME, ladies new model NAME, ladies new task "
      .. "NAME, or ladies new optimizer NAME", 0)
  end
  local like = opts.like or opts.kind == "sampler" and "ladies" or nil
  local path = templates.write(opts.kind, like, opts.name)
  print(("%s: %s%s\n"):format(path, options.with_article(opts.kind),
    like and " like " .. like or ""))
  print((NEXT[opts.kind]:gsub("%%s", path)))
end)
