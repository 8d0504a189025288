--- core_classes(): returns the classes of the C core that have methods, as a table from the name of
-- a class ("Tensor") to its metatable, in which __methods has the methods by name.
return function()
  local classes = {}
  for key, meta in pairs(debug.getregistry()) do
    local name = type(key) == "string" and key:match "^ladies%.(.*)"
    if name and type(meta) == "table" and next(meta.__methods or {}) then classes[name] = meta end
  end
  return classes
end
