package builtin

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// connections holds the kinds of the options of connect requests to pods, by subresource.
var connections = map[string]*catalog.Version{
	"attach":      connection("PodAttachOptions", attachOptions),
	"exec":        connection("PodExecOptions", execOptions),
	"portforward": connection("PodPortForwardOptions", portForwardOptions),
	"proxy":       everyVerb(connection("PodProxyOptions", proxyOptions)),
}

// connection returns a kind of options, which read decodes.
func connection[T any](kind string, read func(query url.Values, path string) (T, error)) *catalog.Version {
	r := review("", kind, func() any { return new(T) })
	r.Verbs = []string{"create", "get"}
	v := r.Versions[0]
	v.Connection = &catalog.Connection{Read: func(query url.Values, path string) (value.Value, error) {
		options, err := read(query, path)
		if err != nil {
			return value.Value{}, err
		}
		out, err := structs.From(&options)
		return out.With("apiVersion", value.String(v.APIVersion())).With("kind", value.String(kind)), err
	}}
	return v
}

// everyVerb makes v a proxy connection, which forwards every method and a path.
func everyVerb(v *catalog.Version) *catalog.Version {
	v.Verbs, v.Connection.Below = []string{"create", "delete", "get", "patch", "update"}, true
	return v
}

func attachOptions(q url.Values, _ string) (corev1.PodAttachOptions, error) {
	return corev1.PodAttachOptions{
		Stdin: api.Flag(q, "stdin"), Stdout: api.Flag(q, "stdout"), Stderr: api.Flag(q, "stderr"), TTY: api.Flag(q, "tty"),
		Container: q.Get("container"),
	}, nil
}

func execOptions(q url.Values, _ string) (corev1.PodExecOptions, error) {
	return corev1.PodExecOptions{
		Stdin: api.Flag(q, "stdin"), Stdout: api.Flag(q, "stdout"), Stderr: api.Flag(q, "stderr"), TTY: api.Flag(q, "tty"),
		Container: q.Get("container"), Command: slices.Clone(q["command"]),
	}, nil
}

func portForwardOptions(q url.Values, _ string) (corev1.PodPortForwardOptions, error) {
	var out corev1.PodPortForwardOptions
	for _, list := range q["ports"] {
		port, err := strconv.ParseUint(list, 10, 16)
		if err != nil {
			return out, fmt.Errorf("cannot convert to []int32: %w", err)
		}
		out.Ports = append(out.Ports, int32(port))
	}
	return out, nil
}

func proxyOptions(_ url.Values, path string) (corev1.PodProxyOptions, error) {
	if path != "" {
		path = "/" + path
	}
	return corev1.PodProxyOptions{Path: path}, nil
}
