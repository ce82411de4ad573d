package dist

import (
	"bytes"
	"debug/buildinfo"
	"runtime/debug"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// SBOM returns the bill of materials of program, a Go program in an archive. It lists the modules that the linker put into
// program, in the CycloneDX format. name is the name of the archive without its extension.
func SBOM(name string, program File, at time.Time) (File, error) {
	info, err := buildinfo.Read(bytes.NewReader(program.Content))
	if err != nil {
		return File{}, err
	}
	top := component(&info.Main)
	top.Type, top.Name = cyclonedx.ComponentTypeApplication, program.Name
	top.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: program.Sum()}}
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "GO") || s.Key == "CGO_ENABLED" {
			*top.Properties = append(*top.Properties, cyclonedx.Property{Name: "cdx:gomod:build:env:" + s.Key, Value: s.Value})
		}
	}
	version := strings.TrimPrefix(info.GoVersion, "go")
	components := []cyclonedx.Component{{Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
		BOMRef: "pkg:golang/std@" + version, PackageURL: "pkg:golang/std@" + version}}
	for _, dep := range info.Deps {
		components = append(components, component(dep))
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: at.UTC().Format(time.RFC3339), Component: &top}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: top.BOMRef, Dependencies: &refs}}
	var out bytes.Buffer
	err = cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6)
	return File{name + ".cdx.json", 0o644, out.Bytes()}, err
}

// component returns the component of m, with its sum in go.sum.
func component(m *debug.Module) cyclonedx.Component {
	url := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	return cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, BOMRef: url, PackageURL: url,
		Properties: &[]cyclonedx.Property{{Name: "deed:go.sum", Value: m.Sum}}}
}
