package openapi

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/deed-project/deed/value"
)

//go:embed definitions.json.gz
var definitionsFile []byte

// definitions are the schemas that kube-apiserver publishes of its Go types, by name and without descriptions. They say what Go
// types do not: what is required, which values there are, and how lists are merged.
var definitions = sync.OnceValue(func() map[string]value.Value {
	z, err := gzip.NewReader(bytes.NewReader(definitionsFile))
	if err != nil {
		panic(err) // the file is part of the program
	}
	var out map[string]value.Value
	if err := json.NewDecoder(z).Decode(&out); err != nil {
		panic(err) // as above
	}
	return out
})
