// Package throughput compares the command line with a program that does the same with apimachinery's field manager. Both read 5,000
// configurations and 5,000 live objects from YAML files, apply, and print the outcomes as YAML.
//
//	cd oracle && go test -run '^$' -bench . -benchtime 1x ./throughput
package throughput

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/deed-project/deed/oracle/command"
	"github.com/deed-project/deed/oracle/history"
	"github.com/deed-project/deed/oracle/peer"
)

func TestMain(m *testing.M) { os.Exit(command.Main(m)) }

const objects = 5000

// BenchmarkApply reports objects per second for both sides.
func BenchmarkApply(b *testing.B) {
	configs, live := files(b, objects)
	run := func(name string, apply func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := apply(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(objects*float64(b.N)/b.Elapsed().Seconds(), "objects/s")
		})
	}
	run("deed", func() error { return deed(configs, live) })
	run("apimachinery", func() error { return apimachinery(configs, live) })
}

// TestSameObjects checks that both sides do the same work.
func TestSameObjects(t *testing.T) {
	configs, live := files(t, 50)
	ours, err := command.Run(arguments(configs, live)...)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range strings.Split(string(ours), "---\n") {
		theirs, err := applyOne(filepath.Join(configs, file(i)), filepath.Join(live, file(i)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := timeless(text), timeless(string(theirs)); got != want {
			t.Fatalf("%s: got\n%s\nwant\n%s", file(i), got, want)
		}
	}
}

// timeless returns text without lines that contain times.
func timeless(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "    time: ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func file(i int) string { return fmt.Sprintf("%05d.yaml", i) }

// files writes n Deployments that one manager applied, and another manager's configurations for them: a new image and more replicas.
func files(t testing.TB, n int) (configs, live string) {
	t.Helper()
	kinds, err := history.Load("../../testdata/manifests")
	if err != nil {
		t.Fatal(err)
	}
	configs, live = t.TempDir(), t.TempDir()
	for _, kind := range kinds {
		if kind.Name != "deployment" {
			continue
		}
		reference, err := peer.New(peer.Config{GVK: kind.GVK})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			rename := strings.NewReplacer(`"name":"checkout","namespace"`, fmt.Sprintf(`"name":"checkout-%d","namespace"`, i))
			config := []byte(rename.Replace(string(kind.A)))
			write(t, configs, i, config)
			write(t, live, i, reference.Apply(nil, config, "kubectl", false).Object)
		}
	}
	return configs, live
}

func write(t testing.TB, dir string, i int, json []byte) {
	t.Helper()
	text, err := yaml.JSONToYAML(json)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, file(i)), text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func arguments(configs, live string) []string {
	return []string{"apply", "-f", configs, "--live", live, "--field-manager", "ci"}
}

func deed(configs, live string) error {
	_, err := command.Run(arguments(configs, live)...)
	return err
}

func apimachinery(configs, live string) error {
	names, err := os.ReadDir(configs)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := applyOne(filepath.Join(configs, name.Name()), filepath.Join(live, name.Name())); err != nil {
			return err
		}
	}
	return nil
}

// applyOne applies one configuration with apimachinery's field manager, which is created once.
func applyOne(config, live string) ([]byte, error) {
	reference, err := deployments()
	if err != nil {
		return nil, err
	}
	configJSON, err := readYAML(config)
	if err != nil {
		return nil, err
	}
	liveJSON, err := readYAML(live)
	if err != nil {
		return nil, err
	}
	answer := reference.Apply(liveJSON, configJSON, "ci", false)
	if answer.Err != nil {
		return nil, answer.Err
	}
	return yaml.JSONToYAML(answer.Object)
}

func readYAML(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(text)
}

// deployments returns the reference for Deployments.
var deployments = sync.OnceValues(func() (*peer.Peer, error) {
	return peer.New(peer.Config{GVK: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}})
})
