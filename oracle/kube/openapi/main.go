// Command openapi writes the schemas that kube-apiserver publishes for its Go types, which package server/catalog/openapi embeds. Run it in
// the folder oracle/kube, without a workspace:
//
//	GOWORK=off go run ./openapi ../../server/catalog/openapi/schemas.txt.gz
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/kube-openapi/pkg/builder3/util"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	_ "k8s.io/kubernetes/pkg/apis/admission/install" // kinds that DeleteOptions and WatchEvent name
	_ "k8s.io/kubernetes/pkg/apis/imagepolicy/install"
	generated "k8s.io/kubernetes/pkg/generated/openapi"

	"github.com/deed-project/deed/oracle/kube/scheme"
	deed "github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

func main() {
	file, err := pack()
	if err == nil {
		err = os.WriteFile(os.Args[1], file, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pack returns the schemas, each as a line of its name, a space and its JSON, compressed.
func pack() ([]byte, error) {
	schemas, err := collect()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if _, err := fmt.Fprintf(z, "%s %s\n", name, schemas[name]); err != nil {
			return nil, err
		}
	}
	err = z.Close()
	return out.Bytes(), err
}

// stable matches the versions that are served by default.
var stable = regexp.MustCompile(`^v[0-9]+$`)

// isServed reports whether a server can serve a version of a kind, or of its lists: by default, or on request.
func isServed(kind schema.GroupVersionKind) bool {
	known, ok := builtin.Lookup(deed.GVK{Group: kind.Group, Version: kind.Version, Kind: strings.TrimSuffix(kind.Kind, "List")})
	return stable.MatchString(kind.Version) || ok && known.Served != builtin.NotServed
}

// collect returns the schemas of the kinds in versions that can be served, and all that they refer to, as JSON by name.
func collect() (map[string]string, error) {
	c := collector{
		namer: openapi.NewDefinitionNamer(scheme.All()), out: map[string]string{},
		definitions: generated.GetOpenAPIDefinitions(func(name string) spec.Ref {
			return spec.MustCreateRef("#/components/schemas/" + common.EscapeJsonPointer(name))
		}),
	}
	for _, name := range []string{"io.k8s.apimachinery.pkg.version.Info", "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"} {
		if err := c.add(name); err != nil {
			return nil, err
		}
	}
	for kind := range scheme.All().AllKnownTypes() {
		if !isServed(kind) {
			continue
		}
		name, err := scheme.All().ToOpenAPIDefinitionName(kind)
		if err == nil {
			err = c.add(name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
	}
	return c.out, nil
}

type collector struct {
	namer       *openapi.DefinitionNamer
	definitions map[string]common.OpenAPIDefinition
	out         map[string]string
}

// add adds a schema and those that it refers to. It ignores names that have none.
func (c *collector) add(name string) error {
	definition, ok := c.definitions[name]
	if _, known := c.out[name]; known || !ok {
		return nil
	}
	schema := definition.Schema
	schema.Extensions = maps.Clone(schema.Extensions)
	delete(schema.Extensions, common.ExtensionV2Schema)
	if _, extensions := c.namer.GetDefinitionName(name); extensions != nil {
		if schema.Extensions == nil {
			schema.Extensions = spec.Extensions{}
		}
		maps.Copy(schema.Extensions, extensions)
	}
	text, err := util.WrapRefs(&schema).MarshalJSON()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	sorted, err := value.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.out[name] = string(sorted.AppendJSON(nil))
	for _, other := range definition.Dependencies {
		if err := c.add(other); err != nil {
			return err
		}
	}
	return nil
}
