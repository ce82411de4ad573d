package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// found is what a validator says of a file.
type found struct {
	messages []string
	skipped  bool
}

// tool is a validator. run returns what it finds, by the base names of files.
type tool struct {
	name string
	run  func() map[string]found
}

// install installs programs into bin.
func install(bin string, packages ...string) {
	for _, p := range packages {
		cmd := exec.Command("go", "install", p)
		cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			log.Fatalf("go install %s: %v\n%s", p, err, out)
		}
	}
}

// output runs a validator, which fails if it finds anything.
func output(name string, args ...string) []byte {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG=/dev/null")
	out, err := cmd.Output()
	if cmd.ProcessState == nil || len(out) == 0 {
		log.Fatalf("%s: %v", name, err)
	}
	return out
}

// timed prints how long deed takes for the first 500 manifests in dir, with all definitions.
func timed(dir, deed string) {
	some := filepath.Join(dir, "some")
	for _, e := range must(os.ReadDir(filepath.Join(dir, "manifests")))[:500] {
		write(filepath.Join(some, e.Name()), must(os.ReadFile(filepath.Join(dir, "manifests", e.Name()))))
	}
	cmd := exec.Command(deed, "validate", "-f", some, "--crd", filepath.Join(dir, "crds"), "-o", "json")
	start := time.Now()
	out, err := cmd.Output()
	if cmd.ProcessState == nil || len(out) == 0 {
		log.Fatalf("%s: %v", deed, err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	log.Printf("deed took %.2f s for 500 manifests, and %.2f s of CPU", time.Since(start).Seconds(), used.Seconds())
}

func decode(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		log.Fatalf("%v in %.300s", err, data)
	}
}

// validators returns the tools for the files in dir. Each file is known to each tool from the start, as one without findings.
func validators(dir, deed, bin string) []tool {
	manifests, crds := filepath.Join(dir, "manifests"), filepath.Join(dir, "crds")
	all := func() map[string]found {
		out := map[string]found{}
		for _, e := range must(os.ReadDir(manifests)) {
			out[e.Name()] = found{}
		}
		return out
	}
	add := func(m map[string]found, file, message string) {
		f := m[filepath.Base(file)]
		f.messages = append(f.messages, message)
		m[filepath.Base(file)] = f
	}
	skip := func(m map[string]found, file string) {
		f := m[filepath.Base(file)]
		f.skipped = true
		m[filepath.Base(file)] = f
	}
	return []tool{
		{"deed validate", func() map[string]found {
			m := all()
			var answer struct {
				Findings []struct{ File, Path, Detail string }
				Notices  []struct {
					File, Detail, Class string
					Warning             bool
				}
			}
			decode(output(deed, "validate", "-f", manifests, "--crd", crds, "-o", "json", "--show-secrets"), &answer)
			for _, f := range answer.Findings {
				add(m, f.File, f.Detail)
			}
			for _, n := range answer.Notices {
				switch {
				case n.Warning:
				case n.Class == "no-schema":
					skip(m, n.File)
				default:
					add(m, n.File, n.Detail)
				}
			}
			return m
		}},
		{"kubectl-validate v0.0.4", func() map[string]found {
			m := all()
			var answer map[string][]struct{ Status, Message string }
			decode(output(filepath.Join(bin, "kubectl-validate"), manifests, "--local-schemas", filepath.Join(dir, "openapi"), "--local-crds", crds, "-o", "json"), &answer)
			for file, statuses := range answer {
				for _, s := range statuses {
					switch {
					case s.Status == "Success":
					case strings.Contains(s.Message, "failed to locate OpenAPI spec"), strings.Contains(s.Message, "failed to retrieve validator"):
						skip(m, file)
					default:
						add(m, file, s.Message)
					}
				}
			}
			return m
		}},
		{"kubeconform v0.8.0", func() map[string]found {
			m := all()
			var answer struct {
				Resources []struct{ Filename, Status, Msg string }
			}
			decode(output(filepath.Join(bin, "kubeconform"), "-strict", "-output", "json", "-schema-location",
				filepath.Join(dir, "schemas", "{{.Group}}_{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"), manifests), &answer)
			for _, r := range answer.Resources {
				switch {
				case strings.Contains(r.Msg, "could not find schema"):
					skip(m, r.Filename)
				default:
					add(m, r.Filename, r.Msg)
				}
			}
			return m
		}},
	}
}

// schemas writes the OpenAPI documents of the server below dir, as kubectl-validate reads them, and schemas of their kinds for kubeconform.
func (p *peer) schemas(dir string) {
	_, body := p.send("GET", "/openapi/v3", asJSON, value.Value{})
	index := must(value.Parse(body))
	for path, entry := range index.Get("paths").Members() {
		if path != "api/v1" && strings.Count(path, "/") != 2 {
			continue // not of a version
		}
		_, body := p.send("GET", entry.Get("serverRelativeURL").Str(), asJSON, value.Value{})
		write(filepath.Join(dir, "openapi", path+".json"), body)
		var document struct {
			Components struct{ Schemas map[string]map[string]any }
		}
		decode(body, &document)
		all := map[string]any{}
		for name, s := range document.Components.Schemas {
			all[name] = strict(s)
		}
		for name, s := range document.Components.Schemas {
			kinds, _ := s["x-kubernetes-group-version-kind"].([]any)
			if len(kinds) != 1 {
				continue // a document of no kind, such as DeleteOptions
			}
			k := kinds[0].(map[string]any)
			group := k["group"].(string)
			if group == "" {
				group = k["version"].(string) // as kubeconform has it
			}
			used := map[string]any{}
			reach(all, name, used)
			file := group + "_" + strings.ToLower(k["kind"].(string)) + "_" + k["version"].(string) + ".json"
			root := map[string]any{"$ref": "#/components/schemas/" + name, "components": map[string]any{"schemas": used}}
			write(filepath.Join(dir, "schemas", file), must(json.Marshal(root)))
		}
	}
}

// reach adds the schema called name to used, with those that it refers to.
func reach(all map[string]any, name string, used map[string]any) {
	if used[name] != nil {
		return
	}
	used[name] = all[name]
	var walk func(any)
	walk = func(x any) {
		switch x := x.(type) {
		case map[string]any:
			if ref, ok := x["$ref"].(string); ok {
				reach(all, strings.TrimPrefix(ref, "#/components/schemas/"), used)
			}
			for _, v := range x {
				walk(v)
			}
		case []any:
			for _, v := range x {
				walk(v)
			}
		}
	}
	walk(all[name])
}

// strict returns a schema of OpenAPI as a JSON schema that has no unknown fields, as the schemas that kubeconform's page names.
func strict(s map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range s {
		switch k {
		case "x-kubernetes-group-version-kind", "default":
		case "properties":
			properties := map[string]any{}
			for name, p := range v.(map[string]any) {
				properties[name] = strict(p.(map[string]any))
			}
			out[k] = properties
		case "items", "additionalProperties", "not":
			if inner, ok := v.(map[string]any); ok {
				v = strict(inner)
			}
			out[k] = v
		case "allOf", "anyOf", "oneOf":
			var inner []any
			for _, x := range v.([]any) {
				inner = append(inner, partOf(k, x.(map[string]any)))
			}
			out[k] = inner
		default:
			out[k] = v
		}
	}
	open := s["x-kubernetes-preserve-unknown-fields"] == true || s["x-kubernetes-embedded-resource"] == true
	if s["properties"] != nil && s["additionalProperties"] == nil && !open {
		out["additionalProperties"] = false
	}
	if s["x-kubernetes-int-or-string"] == true || s["format"] == "int-or-string" || s["oneOf"] != nil && s["type"] == nil {
		delete(out, "type")
		delete(out, "format")
		out["type"] = []any{"string", "integer", "number", "null"}
		delete(out, "oneOf")
	}
	if text, ok := out["type"].(string); ok {
		out["type"] = []any{text, "null"} // null is absence
	}
	return out
}

// partOf returns a part of a combination: a reference, or a condition that leaves other fields open.
func partOf(how string, s map[string]any) map[string]any {
	if how == "allOf" && s["$ref"] != nil {
		return map[string]any{"$ref": s["$ref"]}
	}
	return s
}
