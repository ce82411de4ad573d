package discovery

import (
	"runtime"

	"k8s.io/apimachinery/pkg/version"
)

// release is the release of Kubernetes whose behavior the server has.
var release = version.Info{
	Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "37", MinCompatibilityMajor: "1", MinCompatibilityMinor: "36",
	GitVersion: "v1.37.2+deed", GitTreeState: "clean", GoVersion: runtime.Version(), Compiler: runtime.Compiler,
	Platform: runtime.GOOS + "/" + runtime.GOARCH,
}
