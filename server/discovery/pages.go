package discovery

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/server/wire"
)

// pageWarning is what kube-apiserver says on both pages.
const pageWarning = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for " +
	"debugging purposes only."

// status answers with what the server is and since when it runs.
func (h *Handler) status(w http.ResponseWriter, r *http.Request) {
	up := h.Now().Sub(h.Started).Truncate(time.Second)
	h.page(w, r, "statusz", fmt.Sprintf("\nStarted: %s\nUp: %d hr %02d min %02d sec\nGo version: %s\nBinary version: %s\n"+
		"Emulation version: %s.%s\nPaths: /flagz /healthz /livez /metrics /readyz /statusz /version\n",
		h.Started.UTC().Format(time.UnixDate), int(up.Hours()), int(up.Minutes())%60, int(up.Seconds())%60,
		runtime.Version(), strings.TrimPrefix(release.GitVersion, "v"), release.Major, release.Minor))
}

// flags answers with the flags of the command.
func (h *Handler) flags(w http.ResponseWriter, r *http.Request) {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h.Flags)) {
		fmt.Fprintf(&text, "%s %s\n", name, h.Flags[name])
	}
	h.page(w, r, "flagz", text.String())
}

// page answers with a page of text, whatever the method. The error is a 406.
func (h *Handler) page(w http.ResponseWriter, r *http.Request, name, text string) {
	if err := wire.NegotiateText(r); err != nil {
		h.Response.Error(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "\napiserver %s\n%s\n%s", name, pageWarning, text)
}
