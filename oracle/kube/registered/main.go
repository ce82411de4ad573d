// Command registered writes the table of all kinds that kube-apiserver's scheme has, which package server/kinds embeds. A body of a
// registered kind that a path does not take is refused in other words than a body of an unknown kind. Not all registered kinds are served:
// the scheme also has lists, options, and versions that are gone.
//
//	cd oracle/kube && GOWORK=off go run ./registered -o ../../server/kinds/registered.txt
//
// A line has a group and version, and its kinds. A kind that ends with * has lists, too. Kinds of apimachinery are left out: all versions
// have them.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	_ "k8s.io/kubernetes/pkg/apis/admission/install"
	_ "k8s.io/kubernetes/pkg/apis/imagepolicy/install"

	"github.com/deed-project/deed/oracle/kube/scheme"
)

func main() {
	out := flag.String("o", "../../server/kinds/registered.txt", "the `file` to write")
	flag.Parse()
	if err := os.WriteFile(*out, []byte(table(scheme.All())), 0o644); err != nil {
		log.Fatal(err)
	}
}

// table returns the text of the table.
func table(s *runtime.Scheme) string {
	kinds := map[string][]string{}
	for gvk, typ := range s.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || strings.HasPrefix(typ.PkgPath(), "k8s.io/apimachinery/") {
			continue
		}
		version := gvk.GroupVersion().String()
		kinds[version] = append(kinds[version], gvk.Kind)
	}
	var text strings.Builder
	for _, version := range slices.Sorted(maps.Keys(kinds)) {
		text.WriteString(version)
		all := kinds[version]
		slices.Sort(all)
		for _, kind := range all {
			single, isList := strings.CutSuffix(kind, "List")
			switch {
			case isList && slices.Contains(all, single):
			case slices.Contains(all, kind+"List"):
				fmt.Fprintf(&text, " %s*", kind)
			default:
				fmt.Fprintf(&text, " %s", kind)
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}
