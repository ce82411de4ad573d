package discovery

import (
	"runtime"
	"strconv"

	"k8s.io/apimachinery/pkg/version"
)

// currentMinor is the minor release of Kubernetes whose behavior the server has.
const currentMinor = 37

// FirstMinor is the earliest minor release that a server can emulate, and be compatible with.
const FirstMinor = 34

// pagesSince is the minor release that serves /statusz and /flagz by default.
const pagesSince = 36

// Version returns what /version shows of a server that emulates a minor release of Kubernetes, such as 37.
func Version(minor int) version.Info {
	return version.Info{
		Major: "1", Minor: strconv.Itoa(currentMinor), EmulationMajor: "1", EmulationMinor: strconv.Itoa(minor),
		MinCompatibilityMajor: "1", MinCompatibilityMinor: strconv.Itoa(max(minor-1, FirstMinor)),
		GitVersion: "v1.37.2+deed", GitTreeState: "clean", GoVersion: runtime.Version(), Compiler: runtime.Compiler,
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}
