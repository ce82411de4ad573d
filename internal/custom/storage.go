package custom

import (
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// Storage is how the objects of a CustomResourceDefinition are stored: all in one version. Versions convert as with the conversion
// strategy None.
type Storage struct {
	Group   string
	Version string                        // the stored version
	Schemas map[string]*structural.Schema // by version
}

// Store returns object, which is in the version from, in the stored version.
func (s Storage) Store(object value.Value, from string) (value.Value, error) {
	return s.convert(object, from, s.Version)
}

// Load returns a stored object in the version to. It prunes and defaults by the schema of the version that the object states, and then
// converts.
func (s Storage) Load(stored value.Value, to string) (value.Value, error) {
	from := schema.ParseGVK(stored.Get("apiVersion").Str(), "").Version
	object, err := s.Schemas[from].Load(stored)
	if err != nil {
		return object, err
	}
	return s.convert(s.Schemas[from].Default(object), from, to)
}

// convert changes the apiVersion, and prunes by the schema of the other version. It fills in no defaults of the other version.
func (s Storage) convert(object value.Value, from, to string) (value.Value, error) {
	if from == to {
		return object, nil
	}
	apiVersion := schema.GVK{Group: s.Group, Version: to}.APIVersion()
	object, _, err := s.Schemas[to].Decode(object.With("apiVersion", value.String(apiVersion)))
	return object, err
}
