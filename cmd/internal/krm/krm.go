// Package krm reads and writes the lists of resources that kustomize, kpt and others hand to functions: the KRM Functions Specification. A
// [List] is read by [Read], and written with the results of the function by [List.Write]. Its resources are not changed.
package krm

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// List is a ResourceList.
type List struct {
	rw    kio.ByteReadWriter
	nodes []*yaml.RNode
	items []item
}

// item is a resource of a list.
type item struct {
	text  string // without what tools say about their files
	first int    // the line of the text in [List.Text]
	file  *File
}

// File is where a resource comes from.
type File struct {
	Path  string `yaml:"path"`
	Index int    `yaml:"index,omitempty"`
}

// Resource names a resource.
type Resource struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Namespace  string `yaml:"namespace,omitempty"`
	Name       string `yaml:"name"`
}

// Field is a place in a resource. Its values are absent if they are nil.
type Field struct {
	Path     string `yaml:"path"`
	Current  any    `yaml:"currentValue,omitempty"`
	Proposed any    `yaml:"proposedValue,omitempty"`
}

// Result is what a function says of a resource. The parts of it that are nil are absent.
type Result struct {
	Message  string            `yaml:"message"`
	Severity string            `yaml:"severity"`
	Resource *Resource         `yaml:"resourceRef,omitempty"`
	Field    *Field            `yaml:"field,omitempty"`
	File     *File             `yaml:"file,omitempty"`
	Tags     map[string]string `yaml:"tags,omitempty"`
}

// The severities of results.
const (
	Error   = "error"
	Warning = "warning"
	Info    = "info"
)

// String returns r in one line. The path of the field is left out if the message has it.
func (r Result) String() string {
	words := []string{r.Severity}
	if r.File != nil {
		words = append(words, r.File.Path)
	}
	if x := r.Resource; x != nil {
		words = append(words, strings.TrimSpace(x.Kind+" "+strings.TrimPrefix(x.Namespace+"/"+x.Name, "/")))
	}
	if r.Field != nil && !strings.Contains(r.Message, r.Field.Path) {
		words = append(words, r.Field.Path)
	}
	return strings.Join(append(words, r.Message), ": ")
}

// Read reads a ResourceList from in. [List.Write] writes it to out.
func Read(in io.Reader, out io.Writer) (*List, error) {
	l := &List{rw: kio.ByteReadWriter{Reader: in, Writer: out, OmitReaderAnnotations: true, KeepReaderAnnotations: true}}
	var err error
	if l.nodes, err = l.rw.Read(); err != nil {
		return nil, errors.New("the input cannot be read as YAML") // the text of the error may quote Secrets
	}
	if l.rw.WrappingKind != kio.ResourceListKind {
		return nil, fmt.Errorf("the input is no %s of %s, which tools send to functions", kio.ResourceListKind, kio.ResourceListAPIVersion)
	}
	line := 1
	for _, node := range l.nodes {
		i, err := read(node)
		if err != nil {
			return nil, err
		}
		if i == nil {
			continue
		}
		i.first = line + 1
		line += 1 + strings.Count(i.text, "\n")
		l.items = append(l.items, *i)
	}
	return l, nil
}

// isLocal is the annotation of resources that are for tools, and not for a cluster.
const isLocal = "config.kubernetes.io/local-config"

// ofTools reports whether an annotation is about the file of a resource, also by a name that older tools use.
func ofTools(name string) bool {
	return strings.HasPrefix(name, "internal.config.kubernetes.io/") ||
		slices.Contains([]string{"config.kubernetes.io/index", "config.kubernetes.io/path", "config.k8s.io/id"}, name)
}

// read returns the item of a resource, or nil if the resource is not for a cluster.
func read(node *yaml.RNode) (*item, error) {
	annotations := node.GetAnnotations()
	if local, ok := annotations[isLocal]; ok && local != "false" {
		return nil, nil
	}
	var out item
	if path, index, err := kioutil.GetFileAnnotations(node); err == nil && path != "" {
		n, _ := strconv.Atoi(index) // 0 without an index
		out.file = &File{path, n}
	}
	node = node.Copy()
	for name := range annotations {
		if ofTools(name) {
			if err := node.PipeE(yaml.ClearAnnotation(name)); err != nil {
				return nil, err
			}
		}
	}
	if err := yaml.ClearEmptyAnnotations(node); err != nil {
		return nil, err
	}
	var err error
	out.text, err = node.String()
	return &out, err
}

// Config returns the member data of the function's configuration, as that of a ConfigMap. The error names a member that says nothing to
// the function, or a value that is no text.
func (l *List) Config() (map[string]string, error) {
	config := l.rw.FunctionConfig
	if config.IsNilOrEmpty() {
		return nil, nil
	}
	if err := yaml.ErrorIfInvalid(config, yaml.MappingNode); err != nil {
		return nil, errors.New("functionConfig is no object")
	}
	names, err := config.Fields()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "data", "immutable"}, name) {
			return nil, fmt.Errorf("functionConfig: %s is not read: data says what to do", name)
		}
	}
	data := config.Field("data")
	if data.IsNilOrEmpty() {
		return nil, nil
	}
	out := map[string]string{}
	err = data.Value.VisitFields(func(member *yaml.MapNode) error {
		name := yaml.GetValue(member.Key)
		if member.Value.YNode().Kind != yaml.ScalarNode {
			return fmt.Errorf("functionConfig: data: %s: a value must be text", name)
		}
		out[name] = yaml.GetValue(member.Value)
		return nil
	})
	return out, err
}

// none is a document that stands for no resources.
const none = "{apiVersion: v1, kind: List, items: []}\n"

// Text returns the resources as documents of YAML, without those that are not for a cluster.
func (l *List) Text() []byte {
	if len(l.items) == 0 {
		return []byte(none)
	}
	var out strings.Builder
	for _, i := range l.items {
		out.WriteString("---\n" + i.text)
	}
	return []byte(out.String())
}

// FileAt returns the file of the resource at a line of [List.Text], or nil if that is unknown.
func (l *List) FileAt(line int) *File {
	for _, i := range slices.Backward(l.items) {
		if i.first <= line {
			return i.file
		}
	}
	return nil
}

// Write writes l with more results.
func (l *List) Write(results []Result) error {
	if len(results) > 0 {
		text, err := yaml.Marshal(results)
		if err != nil {
			return err
		}
		added, err := yaml.Parse(string(text))
		if err != nil {
			return err
		}
		if l.rw.Results.IsNilOrEmpty() {
			l.rw.Results = added
		} else {
			l.rw.Results.YNode().Content = append(l.rw.Results.YNode().Content, added.YNode().Content...)
		}
	}
	return l.rw.Write(l.nodes)
}
