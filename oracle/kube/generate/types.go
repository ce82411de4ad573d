package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// scalars are the Go types that read and print themselves, and the names that the embedded data has for them.
var scalars = map[string]string{
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "quantity",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "microtime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "any",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "intorstring",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "raw",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "any",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "schemaorbool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "schemaorarray",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "schemaorstrings",
}

// forms describes Go struct types, by short name, as they read and print JSON.
type forms map[string][]string

// typeName returns the name that the data has for a struct type: the last parts of its package, and its name.
func typeName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	n := len(parts)
	return parts[n-2] + "/" + parts[n-1] + "." + t.Name()
}

// add describes t and every struct type that it holds, and returns how a field refers to it.
func (f forms) add(t reflect.Type) string {
	if name, ok := scalars[t.PkgPath()+"."+t.Name()]; ok {
		return name
	}
	ref := f.unnamed(t)
	if t.PkgPath() != "" && t.Kind() != reflect.Struct {
		return "@" + t.String() + ":" + ref
	}
	return ref
}

// unnamed is add for what a named type is.
func (f forms) unnamed(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + f.add(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + f.add(t.Elem())
	case reflect.Map:
		key := ""
		if t.Key().PkgPath() != "" {
			key = t.Key().String()
		}
		return "{" + key + "}" + f.add(t.Elem())
	case reflect.Struct:
		return f.addStruct(t)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	case reflect.Int:
		return "int64"
	}
	panic(fmt.Sprintf("a field of type %v", t))
}

func (f forms) addStruct(t reflect.Type) string {
	name := typeName(t)
	if _, ok := f[name]; ok {
		return name
	}
	f[name] = nil
	f[name] = f.fields(t, "")
	return name
}

// fields returns a line for each field of t: its name, with ? if it is left out when empty and ! if it is left out
// when zero, and its type. In front of the name stands via, and the name of each struct that is embedded in t and has
// the field, with a dot behind it. TypeMeta is left out, because servers read its fields before they read the object.
func (f forms) fields(t reflect.Type, via string) []string {
	var lines []string
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("json")
		if !field.IsExported() || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" && field.Anonymous {
			inner := field.Type
			if inner.Kind() == reflect.Pointer {
				panic("an embedded pointer")
			}
			through := via
			if inner.Name() != "TypeMeta" {
				through += inner.Name() + "."
			}
			lines = append(lines, f.fields(inner, through)...)
			continue
		}
		if name == "" {
			name = field.Name
		}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty":
				name += "?"
			case "omitzero":
				name += "!"
			case "string":
				panic("a number that is written as a string")
			}
		}
		lines = append(lines, via+name+" "+f.add(field.Type))
	}
	return lines
}

// mayBeEmpty is declared to be required, and a server takes it empty.
const mayBeEmpty = "core/v1.Sysctl.value"

// constrain adds to the lines of fields what schemas declare: + behind the name of what is required, and the values
// of an enum.
func (f forms) constrain(all map[string]constraint) {
	for name, lines := range f {
		c := all[name]
		for i, line := range lines {
			flagged, ref, _ := strings.Cut(line, " ")
			field := strings.TrimRight(flagged[strings.LastIndexByte(flagged, '.')+1:], "?!")
			if slices.Contains(c.Required, field) && name+"."+field != mayBeEmpty {
				flagged += "+"
			}
			lines[i] = flagged + " " + ref
			if values := c.Enums[field]; len(values) > 0 {
				lines[i] += " " + strings.Join(values, "|")
			}
		}
	}
}

func (f forms) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f)) {
		b.WriteString(name + "\n")
		for _, line := range f[name] {
			b.WriteString("\t" + line + "\n")
		}
	}
	return b.String()
}
