package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/recording"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// Server serves one custom resource. It is not safe for concurrent use.
type Server struct {
	group, kind, plural string
	versions            map[string]*version // served and stored ones, by name
	storage             string              // the version that objects are stored in
	objects             map[string]value.Value
	replicas            map[string]fieldpath.Path // where each version has them
	writes              int                       // so far; the source of uids and resource versions
}

// epoch is when a server begins: later than every time that a client sends.
var epoch = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// version is what the server has for one version of its resource.
type version struct {
	gvk      schema.GVK
	schema   *structural.Schema
	rules    *rules
	status   bool                                   // whether there is a status subresource
	scale    *scale                                 // nil when there is no scale subresource
	managers map[string]*managedfields.FieldManager // by subresource
}

// New returns a server for the resource that crd defines, with nothing stored. The error is about a definition that cannot
// be served.
func New(crd value.Value) (*Server, error) {
	types, err := typesOf(crd)
	if err != nil {
		return nil, err
	}
	spec := crd.Get("spec")
	s := &Server{
		group: spec.Get("group").Str(), kind: spec.At("names", "kind").Str(), plural: spec.At("names", "plural").Str(),
		versions: map[string]*version{}, objects: map[string]value.Value{}, replicas: map[string]fieldpath.Path{},
	}
	schemas, err := structural.Versions(crd)
	if err != nil {
		return nil, err
	}
	for v := range spec.Get("versions").Items() {
		s.addVersion(v, schemas[v.Get("name").Str()])
	}
	for _, v := range s.versions {
		if err := s.addManagers(v, types); err != nil {
			return nil, err
		}
	}
	if s.versions[s.storage] == nil {
		return nil, fmt.Errorf("no version is stored")
	}
	return s, nil
}

// typesOf returns the types that crd defines, by apiVersion.
func typesOf(crd value.Value) (map[string]*schema.Type, error) {
	definitions, err := openapi.CRD(crd)
	if err != nil {
		return nil, err
	}
	catalog, err := definitions.Catalog()
	if err != nil {
		return nil, err
	}
	types := map[string]*schema.Type{}
	for gvk, t := range catalog.Kinds() {
		types[gvk.APIVersion()] = t
	}
	return types, nil
}

func (s *Server) addVersion(v value.Value, structure *structural.Schema) {
	name := v.Get("name").Str()
	if v.Get("storage").Bool() {
		s.storage = name
	}
	added := &version{
		gvk:    schema.GVK{Group: s.group, Version: name, Kind: s.kind},
		schema: structure,
		rules:  rulesOf(v.At("schema", "openAPIV3Schema")),
		status: v.At("subresources", "status").Kind() == value.KindObject,
		scale:  scaleOf(v.At("subresources", "scale")),
	}
	s.versions[name] = added
	s.replicas[added.gvk.APIVersion()] = added.scale.path()
}

// addManagers makes the field managers of a version's endpoints.
func (s *Server) addManagers(v *version, types map[string]*schema.Type) error {
	config := managedfields.Config{
		GVK: v.gvk, Types: types, Converter: managedfields.StrategyNone(slices.Collect(maps.Keys(types))...),
		Default: func(content value.Value) value.Value { return v.schema.Default(content) },
		Now:     func() time.Time { return epoch.Add(time.Duration(s.writes) * time.Second) },
	}
	if v.status {
		config.ResetFields = map[string]merge.Filter{v.gvk.APIVersion(): excluding("status")}
	}
	main, err := managedfields.New(config)
	if err != nil {
		return err
	}
	v.managers = map[string]*managedfields.FieldManager{"": main}
	if v.scale != nil {
		if v.managers["scale"], err = scaleManager(config.Now); err != nil {
			return err
		}
	}
	if !v.status {
		return nil
	}
	config.Subresource, config.ResetFields = "status", map[string]merge.Filter{}
	for _, other := range s.versions {
		if other.status {
			config.ResetFields[other.gvk.APIVersion()] = excluding("metadata", "spec")
		}
	}
	v.managers["status"], err = managedfields.New(config)
	return err
}

func excluding(names ...string) merge.Filter {
	var paths []fieldpath.Path
	for _, name := range names {
		paths = append(paths, fieldpath.Path{fieldpath.Field(name)})
	}
	return merge.Filter{Exclude: fieldpath.SetOf(paths...)}
}

// Serve answers the request of a step. The text $RV as the resource version in its body stands for that of the stored
// object.
func (s *Server) Serve(step recording.Step) recording.Answer {
	q := &request{Server: s, step: step}
	f := q.serve()
	if f != nil {
		return recording.Answer{Code: f.code, Body: f.status(), Warnings: q.warnings}
	}
	return recording.Answer{Code: q.code, Body: q.answer, Warnings: q.warnings}
}

// stored returns the object as the given version has it, its managed fields beside it, and whether there is one. Reading
// prunes and defaults by the schema of the version that it is stored in, and prunes by that of v.
func (s *Server) stored(key string, v *version) (managedfields.Object, bool, error) {
	content, ok := s.objects[key]
	if !ok {
		return managedfields.Object{}, false, nil
	}
	object, err := s.read(content, v)
	return object, true, err
}

func (s *Server) read(content value.Value, v *version) (managedfields.Object, error) {
	from := s.versions[s.storage].schema
	content, err := from.Load(content)
	if err != nil {
		return managedfields.Object{}, err
	}
	content = from.Default(content).With("apiVersion", value.String(v.gvk.APIVersion()))
	if content, _, err = v.schema.Decode(content); err != nil {
		return managedfields.Object{}, err
	}
	return managedfields.ObjectOf(content)
}

// encoded returns the object as it is stored.
func (s *Server) encoded(object managedfields.Object, v *version) (value.Value, error) {
	content, err := object.Value()
	if err != nil {
		return value.Value{}, err
	}
	storage := s.versions[s.storage]
	if v != storage {
		content, _, err = storage.schema.Decode(content.With("apiVersion", value.String(storage.gvk.APIVersion())))
	}
	return content, err
}

// nextVersion counts a write and returns the resource version that it makes.
func (s *Server) nextVersion() string {
	s.writes++
	return strconv.Itoa(s.writes)
}

func (s *Server) resource() string { return strings.TrimSuffix(s.plural+"."+s.group, ".") }
