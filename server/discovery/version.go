package discovery

import (
	"runtime"
	"strconv"

	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/schema/builtin"
)

// pagesSince is the minor release that serves /statusz and /flagz by default.
const pagesSince = 36

// Version returns what /version shows of a server that emulates a minor release of Kubernetes, such as 37.
func Version(minor int) version.Info {
	return version.Info{
		Major: "1", Minor: strconv.Itoa(builtin.CurrentMinor), EmulationMajor: "1", EmulationMinor: strconv.Itoa(minor),
		MinCompatibilityMajor: "1", MinCompatibilityMinor: strconv.Itoa(max(minor-1, builtin.FirstEmulated)),
		GitVersion: "v1.37.2+deed", GitTreeState: "clean", GoVersion: runtime.Version(), Compiler: runtime.Compiler,
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}
