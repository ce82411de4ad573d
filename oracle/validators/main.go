// Command validators compares what validators find in manifests of real projects with what a kube-apiserver refuses: deed validate,
// kubectl-validate and kubeconform.
//
//	go run ./validators -server https://127.0.0.1:16443 -deed deed
//
// The server is new and has the token tok. Each manifest is sent to it as a dry run of a create and of an apply, and so is a copy with a random
// edit. Both other validators are installed by go install, and get the server's own OpenAPI documents, so that they know what the server knows;
// schemas for kubeconform are made of these documents. Only manifests count whose answer does not depend on other objects.
//
// A server refuses a manifest if it refuses the create or the apply of it. The last lines are a table: how often each validator is right, what it
// misses, what it invents, and what it does not look at. -show N prints the first N differences of deed. The exit code is 1 if there are any. Before
// the table stands how long deed takes for 500 manifests.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// sample is a manifest, and what the server and the validators say of it.
type sample struct {
	file    string // its base name
	object  value.Value
	edit    string // how it was edited; empty for the manifest itself
	refused bool
	answer  value.Value
	found   [][]string // what each validator finds
	looked  []bool     // whether each validator has looked at it
}

func main() {
	log.SetFlags(0)
	server := flag.String("server", "", "URL of a new kube-apiserver")
	deed := flag.String("deed", "deed", "the program deed, with deed-validate beside it")
	bin := flag.String("bin", "", "folder with kubectl-validate and kubeconform; empty installs them")
	count := flag.Int("n", 2000, "number of manifests")
	show := flag.Int("show", 20, "number of differences of deed to print")
	seed := flag.Uint64("seed", 1, "seed of the edits")
	alone := flag.Bool("alone", false, "compare deed alone")
	out := flag.String("out", "", "folder for the manifests and schemas; empty takes a temporary one")
	flag.Parse()
	dir := *out
	if dir == "" {
		dir = must(os.MkdirTemp("", "validators"))
		defer os.RemoveAll(dir)
	}
	if *bin == "" && !*alone {
		*bin = filepath.Join(dir, "bin")
		install(*bin, "sigs.k8s.io/kubectl-validate@v0.0.4", "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0")
	}
	peer := connect(*server)
	manifests := collect()
	peer.define(manifests, filepath.Join(dir, "crds"))
	samples := peer.samples(manifests, *count, *seed)
	for i, s := range samples {
		s.file = fmt.Sprintf("%05d.yaml", i)
		write(filepath.Join(dir, "manifests", s.file), s.object.AppendJSON(nil))
	}
	peer.schemas(dir)
	tools := validators(dir, *deed, *bin)
	if *alone {
		tools = tools[:1]
	}
	for _, t := range tools {
		start := time.Now()
		found := t.run()
		log.Printf("%s took %.1f s", t.name, time.Since(start).Seconds())
		for _, s := range samples {
			f, ok := found[s.file]
			s.found, s.looked = append(s.found, f.messages), append(s.looked, ok && !f.skipped)
		}
	}
	timed(dir, *deed)
	wrong := report(samples, tools, *show)
	if wrong > 0 {
		os.Exit(1)
	}
}

// report prints the table, and returns the number of differences of deed, the first tool.
func report(samples []*sample, tools []tool, show int) (wrong int) {
	for _, s := range samples {
		if d := s.difference(0); d != "" {
			if wrong++; wrong <= show {
				fmt.Printf("%s %s\n  %.700s\n  edit:   %s\n  server: %.900s\n  deed:   %.900s\n", s.file, d, s.object, s.edit, s.answer.Get("message").Str(), strings.Join(s.found[0], "\n          "))
			}
		}
	}
	for _, edited := range []bool{false, true} {
		n, refused := 0, 0
		sums := make([]struct{ right, missed, invented, skipped int }, len(tools))
		for _, s := range samples {
			if (s.edit != "") != edited {
				continue
			}
			n++
			if s.refused {
				refused++
			}
			for i := range tools {
				switch {
				case !s.looked[i]:
					sums[i].skipped++
				case s.refused && len(s.found[i]) == 0:
					sums[i].missed++
				case !s.refused && len(s.found[i]) > 0:
					sums[i].invented++
				default:
					sums[i].right++
				}
			}
		}
		what := "manifests as they are"
		if edited {
			what = "edited copies"
		}
		fmt.Printf("\n%d %s, of which the server refuses %d\n| validator | right | missed | invented | not looked at |\n|---|---|---|---|---|\n", n, what, refused)
		for i, t := range tools {
			fmt.Printf("| %s | %d | %d | %d | %d |\n", t.name, sums[i].right, sums[i].missed, sums[i].invented, sums[i].skipped)
		}
	}
	fmt.Printf("\ndeed differs in %d, and in the messages of causes\n", wrong)
	return wrong
}

// difference says how tool i differs from the server in s. For a tool that finds all, it also looks for the message of each cause.
func (s *sample) difference(i int) string {
	switch {
	case !s.looked[i]:
		return "not looked at"
	case s.refused && len(s.found[i]) == 0:
		return "missed"
	case !s.refused && len(s.found[i]) > 0:
		return "invented"
	}
	for cause := range s.answer.Get("details", "causes").Items() {
		message := cause.Get("message").Str()
		if strings.Contains(message, "in body must be of type") { // deed has words of its own
			continue
		}
		if s.answer.Get("code").Int() == 422 && !slices.ContainsFunc(s.found[i], func(f string) bool { return strings.Contains(f, message) }) {
			return "missed cause: " + message
		}
	}
	return ""
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func write(name string, data []byte) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		log.Fatal(err)
	}
}
