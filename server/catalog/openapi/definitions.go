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

// definitions returns the schemas that kube-apiserver publishes for its Go types, by name and without descriptions. They contain facts that
// the Go types lack: required fields, allowed values, and list types.
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
