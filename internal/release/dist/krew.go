package dist

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// Plugin describes a plugin of kubectl for krew.
type Plugin struct {
	Name, Version, Homepage, Short, Description string
	Downloads                                   string // URL of the folder that has the archives
}

type krewManifest struct {
	APIVersion string            `yaml:"apiVersion"`
	Kind       string            `yaml:"kind"`
	Metadata   map[string]string `yaml:"metadata"`
	Spec       krewSpec          `yaml:"spec"`
}

type krewSpec struct {
	Version          string         `yaml:"version"`
	Homepage         string         `yaml:"homepage"`
	ShortDescription string         `yaml:"shortDescription"`
	Description      string         `yaml:"description"`
	Platforms        []krewPlatform `yaml:"platforms"`
}

type krewPlatform struct {
	Selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	} `yaml:"selector"`
	URI    string `yaml:"uri"`
	SHA256 string `yaml:"sha256"`
	Bin    string `yaml:"bin"`
}

// Krew returns the manifest from which krew downloads the archives of a plugin of kubectl.
func Krew(p Plugin, builds []Build) (File, error) {
	m := krewManifest{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": p.Name}}
	m.Spec = krewSpec{Version: p.Version, Homepage: p.Homepage, ShortDescription: p.Short, Description: p.Description}
	for _, b := range builds {
		to := krewPlatform{URI: p.Downloads + "/" + b.Archive.Name, SHA256: b.Archive.Sum(), Bin: b.Program.Name}
		to.Selector.MatchLabels = map[string]string{"os": b.OS, "arch": b.Arch}
		m.Spec.Platforms = append(m.Spec.Platforms, to)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(m); err != nil {
		return File{}, err
	}
	err := e.Close()
	return File{p.Name + ".yaml", 0o644, out.Bytes()}, err
}
