package openapi

import "github.com/deed-project/deed/value"

// openAPI is the topology of an OpenAPI v3 schema.
type openAPI struct {
	ref        string
	typ        string // the first type; empty without a type
	format     string
	nullable   bool
	deflt      any // the value of a JSON decoder; nil without a default
	allOf      []*openAPI
	items      *openAPIItems
	properties map[string]*openAPI
	additional *openAPIMembers
	extensions map[string]any // the values of a JSON decoder
}

// openAPIItems is the value of items. The schema is nil if there are several.
type openAPIItems struct{ schema *openAPI }

// openAPIMembers is the value of additionalProperties: a boolean or a schema.
type openAPIMembers struct {
	allows bool
	schema *openAPI
}

// extensionsRead are the extensions that readOpenAPI reads.
var extensionsRead = []string{listMapKeys, listType, mapType, patchMergeKey, patchStrategy}

// readOpenAPI reads an embedded schema. Embedded schemas have neither items of several schemas nor boolean
// additionalProperties.
func readOpenAPI(v value.Value) *openAPI {
	if v.IsAbsent() {
		return nil
	}
	s := &openAPI{
		ref: v.Get("$ref").Str(), typ: v.Get("type").Str(), format: v.Get("format").Str(), extensions: map[string]any{},
		properties: map[string]*openAPI{},
	}
	if v := v.Get("default"); !v.IsAbsent() {
		s.deflt = v
	}
	for part := range v.Get("allOf").Items() {
		s.allOf = append(s.allOf, readOpenAPI(part))
	}
	if v := v.Get("items"); !v.IsAbsent() {
		s.items = &openAPIItems{readOpenAPI(v)}
	}
	for name, property := range v.Get("properties").Members() {
		s.properties[name] = readOpenAPI(property)
	}
	if v := v.Get("additionalProperties"); !v.IsAbsent() {
		s.additional = &openAPIMembers{allows: true, schema: readOpenAPI(v)}
	}
	for _, name := range extensionsRead {
		if v := v.Get(name); !v.IsAbsent() {
			s.extensions[name] = v.ToAny()
		}
	}
	return s
}
