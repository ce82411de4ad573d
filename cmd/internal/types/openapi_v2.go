package types

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/value"
)

// warnOfKeys warns if items of a list in the OpenAPI v2 document doc may omit a key and doc has no default for it. API servers publish
// defaults only in v3 documents: by v2, a port without a protocol is k:{"port":80}, and not k:{"port":80,"protocol":"TCP"}.
func (c *Library) warnOfKeys(file string, doc value.Value) {
	var found []string
	for _, definition := range doc.Get("definitions").Members() {
		for field, property := range definition.Get("properties").Members() {
			for _, key := range openKeys(doc, property) {
				found = append(found, field+" without "+key)
			}
		}
	}
	if len(found) == 0 {
		return
	}
	slices.Sort(found)
	c.Warn(notice.InFile(file), "OpenAPI v2 does not say what keys are by default, so that items without one have another identity "+
		"than on a server (%s); name documents of /openapi/v3 instead", strings.Join(slices.Compact(found), ", "))
}

// openKeys returns the keys that items of the list property may omit and that have no default.
func openKeys(doc, property value.Value) []string {
	if property.Get("x-kubernetes-list-type").Str() != "map" {
		return nil
	}
	item := property.Get("items")
	if ref := item.Get("$ref").Str(); ref != "" {
		item = doc.Get("definitions", strings.TrimPrefix(ref, "#/definitions/"))
	}
	required := map[string]bool{}
	for name := range item.Get("required").Items() {
		required[name.Str()] = true
	}
	var out []string
	for key := range property.Get("x-kubernetes-list-map-keys").Items() {
		name := key.Str()
		if field := item.Get("properties", name); !required[name] && !field.IsAbsent() && field.Get("default").IsAbsent() {
			out = append(out, name)
		}
	}
	return out
}
