package recording

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/internal/mergepatch"
	"github.com/deed-project/deed/value"
)

// Patched returns the live object with a successful patch applied, and whether the result is known. For a strategic merge patch
// it is known only if the patch changes nothing but labels and annotations.
func (e Exchange) Patched() (object value.Value, known bool) {
	switch e.Op {
	case "jsonpatch":
		object = e.Live
		for op := range e.Body.Items() {
			object = jsonPatched(object, strings.Split(op.Get("path").Str(), "/")[1:], op)
		}
		return object, true
	case "smp":
		rest := e.Body
		for _, name := range []string{"metadata", "apiVersion", "kind"} {
			rest = rest.With(name, value.Value{})
		}
		if rest.Len() > 0 || strings.ContainsAny(e.Body.String(), "[$") {
			return object, false
		}
	}
	return mergepatch.Apply(e.Live, e.Body), true
}

// jsonPatched executes an operation of a JSON patch that is known to succeed.
func jsonPatched(v value.Value, pointer []string, op value.Value) value.Value {
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[0])
	if v.Kind() == value.KindList {
		return jsonPatchedItem(v, name, pointer[1:], op)
	}
	if len(pointer) > 1 {
		return v.With(name, jsonPatched(v.Get(name), pointer[1:], op))
	}
	switch op.Get("op").Str() {
	case "remove":
		return v.With(name, value.Value{})
	case "add", "replace":
		return v.With(name, op.Get("value"))
	}
	return v
}

func jsonPatchedItem(list value.Value, name string, below []string, op value.Value) value.Value {
	items := slices.Collect(list.Items())
	i, err := strconv.Atoi(name)
	switch {
	case err != nil || i >= len(items):
		return list
	case len(below) > 0:
		items[i] = jsonPatched(items[i], below, op)
	case op.Get("op").Str() == "remove":
		items = slices.Delete(items, i, i+1)
	case op.Get("op").Str() == "replace":
		items[i] = op.Get("value")
	}
	return value.List(items...)
}
