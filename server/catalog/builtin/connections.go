package builtin

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Options of connections. A request to connect to a pod has its options in the query, and admission sees them as an object:
//
//	POST .../pods/a/exec?command=ls&command=-l&stdout=true
//	{apiVersion: v1, kind: PodExecOptions, command: [ls, -l], stdout: true}

// connections holds the kinds of the options of connect requests to pods, by subresource.
var connections = map[string]*catalog.Version{
	"attach":      connection("PodAttachOptions", attachOptions),
	"exec":        connection("PodExecOptions", execOptions),
	"portforward": connection("PodPortForwardOptions", portForwardOptions),
	"proxy":       everyVerb(connection("PodProxyOptions", proxyOptions)),
}

// proxies holds the kinds of the options of proxy requests to other kinds than pods.
var proxies = map[schema.GVK]*catalog.Version{
	{Version: "v1", Kind: "Node"}: everyVerb(connection("NodeProxyOptions", func(_ url.Values, path string) (corev1.NodeProxyOptions, error) {
		return corev1.NodeProxyOptions{Path: proxyPath(path)}, nil
	})),
	{Version: "v1", Kind: "Service"}: everyVerb(connection("ServiceProxyOptions", func(_ url.Values, path string) (corev1.ServiceProxyOptions, error) {
		return corev1.ServiceProxyOptions{Path: proxyPath(path)}, nil
	})),
}

// connection returns a kind of options, which read decodes.
//
// It is a resource that is never served itself: a review with verbs of its own.
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
//
// The path is what follows "proxy" in the URL.
func everyVerb(v *catalog.Version) *catalog.Version {
	v.Verbs, v.Connection.Below = []string{"create", "delete", "get", "patch", "update"}, true
	return v
}

// attachOptions reads the options of attach. The path is that of no proxy, and ignored.
func attachOptions(q url.Values, _ string) (corev1.PodAttachOptions, error) {
	return corev1.PodAttachOptions{
		Stdin: api.Flag(q, "stdin"), Stdout: api.Flag(q, "stdout"), Stderr: api.Flag(q, "stderr"), TTY: api.Flag(q, "tty"),
		Container: q.Get("container"),
	}, nil
}

// execOptions reads the options of exec. The command is the only option with several values.
func execOptions(q url.Values, _ string) (corev1.PodExecOptions, error) {
	return corev1.PodExecOptions{
		Stdin: api.Flag(q, "stdin"), Stdout: api.Flag(q, "stdout"), Stderr: api.Flag(q, "stderr"), TTY: api.Flag(q, "tty"),
		Container: q.Get("container"), Command: slices.Clone(q["command"]),
	}, nil
}

// portForwardOptions reads the options of portforward: ports, and lists of ports with commas. The error is that of kube-apiserver's conversion.
func portForwardOptions(q url.Values, _ string) (corev1.PodPortForwardOptions, error) {
	var out corev1.PodPortForwardOptions
	for _, list := range q["ports"] {
		for text := range strings.SplitSeq(list, ",") {
			port, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				return out, fmt.Errorf("cannot convert to []int32: %w", err)
			}
			out.Ports = append(out.Ports, int32(port))
		}
	}
	return out, nil
}

// proxyOptions reads the options of proxy: the path below the pod, with a slash in front, or none.
func proxyOptions(_ url.Values, path string) (corev1.PodProxyOptions, error) {
	return corev1.PodProxyOptions{Path: proxyPath(path)}, nil
}

// proxyPath returns the path behind a proxy subresource as options have it.
func proxyPath(path string) string {
	if path == "" {
		return ""
	}
	return "/" + path
}
