package pair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Differ notes what is not equal in two values, by its path.
func Differ(there, here any, path string, note func(string, ...any)) {
	t, ok := there.(map[string]any)
	h, both := here.(map[string]any)
	if ok && both {
		names := maps.Clone(t)
		maps.Copy(names, h)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			a, inThere := t[name]
			b, inHere := h[name]
			if inThere != inHere {
				note("%s.%s: %s there, %s here", path, name, presence(a, inThere), presence(b, inHere))
				continue
			}
			Differ(a, b, path+"."+name, note)
		}
		return
	}
	list, ok := there.([]any)
	other, both := here.([]any)
	if ok && both {
		if len(list) != len(other) {
			note("%s: %d items there, %d here", path, len(list), len(other))
		}
		for i := range min(len(list), len(other)) {
			Differ(list[i], other[i], fmt.Sprint(path, "[", i, "]"), note)
		}
		return
	}
	if t, h := Text(there), Text(here); t != h {
		note("%s: %s there, %s here", path, t, h)
	}
}

func presence(v any, exists bool) string {
	if !exists {
		return "absent"
	}
	return Text(v)
}

// chosen are members that a server chooses: allocated addresses, identities, tokens, and where it is.
var chosen = []string{"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort", "uid", "resourceVersion", "continue", "serverAddress"}

// byTime is what differs from run to run in the cells of a Table: ages, and the ports that Services get.
var byTime = regexp.MustCompile(`\b\d+[smhdy](\d+[smhd])?\b|:3\d{4}/`)

// MaskedValue returns a value without what differs from run to run.
func MaskedValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			switch {
			case slices.Contains(chosen, name) && member != nil:
				out[name] = "MASKED"
			case name == "cells":
				out[name] = byTime.ReplaceAllString(Masked(Text(member)), "MASKED")
			case name == "managedFields": // whose order depends on the seconds in which the writes fall
				entries, _ := MaskedValue(member).([]any)
				slices.SortFunc(entries, func(a, b any) int { return strings.Compare(Text(a), Text(b)) })
				out[name] = entries
			default:
				out[name] = MaskedValue(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = MaskedValue(item)
		}
		return out
	case string:
		return Masked(v)
	}
	return v
}

// Text returns v as JSON.
func Text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}
