// Command tables records the Tables of a kube-apiserver for built-in kinds: the columns of all its resources, and the rows of the objects
// in a file with one JSON document per line:
//
//	{"path": "/api/v1/namespaces/default/pods", "object": {…}, "shownAt": ["…"], "deleted": true}
//
// The command creates each object, sets its status if it has one, and deletes it if the line says so; a finalizer keeps the object. It then
// reads the object from its path, and from the paths of other versions in shownAt. The server must be new, with the token tok.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

// line is an object to record.
type line struct {
	Path    string         `json:"path"`
	Object  map[string]any `json:"object"`
	ShownAt []string       `json:"shownAt"`
	Deleted bool           `json:"deleted"`
}

// recorded is a server's view of an object.
type recorded struct {
	Resource   string          `json:"resource"` // with its group version, such as apps/v1/deployments
	Date       string          `json:"date"`     // of the answer
	Object     json.RawMessage `json:"object"`
	Cells      json.RawMessage `json:"cells"`
	Conditions json.RawMessage `json:"conditions,omitempty"`
}

func main() {
	server := flag.String("server", "https://127.0.0.1:16443", "the server")
	objects := flag.String("objects", "../../server/kinds/testdata/objects.jsonl", "the objects")
	rows := flag.String("rows", "../../server/kinds/testdata/rows.json.gz", "where the rows are written to")
	columns := flag.String("columns", "../../server/catalog/builtin/columns.json.gz", "where the columns are written to; empty writes none")
	flag.Parse()
	c := client{*server, &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is made for the run
	}}}
	all, err := c.record(*objects)
	if err == nil {
		err = write(*rows, all)
	}
	if err == nil && *columns != "" {
		var found map[string]json.RawMessage
		if found, err = c.columns(); err == nil {
			err = write(*columns, found)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

// client sends requests to a server.
type client struct {
	url  string
	http *http.Client
}

// send sends a request, and decodes the answer into out. It returns the date of the answer.
func (c client) send(method, path, accept string, body, out any) (string, error) {
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return "", err
		}
	}
	r, err := http.NewRequest(method, c.url+path, &text)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer tok")
	r.Header.Set("Accept", accept)
	answer, err := c.http.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close() // only read
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	if answer.StatusCode >= 300 {
		return "", fmt.Errorf("%s %s: %s", method, path, data)
	}
	return answer.Header.Get("Date"), json.Unmarshal(data, out)
}

const (
	plain = "application/json"
	table = "application/json;as=Table;g=meta.k8s.io;v=v1"
)

// record creates the objects of a file, and returns the server's views of them.
func (c client) record(file string) ([]recorded, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var out []recorded
	var failed []error // to report all errors in the file at once
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, err
		}
		name, err := c.make(l)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		for _, path := range append([]string{l.Path}, l.ShownAt...) {
			r, err := c.read(path, name)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, errors.Join(failed...)
}

// make creates an object, and returns its name.
func (c client) make(l line) (string, error) {
	var made map[string]any
	if _, err := c.send(http.MethodPost, l.Path, plain, l.Object, &made); err != nil {
		return "", err
	}
	name := made["metadata"].(map[string]any)["name"].(string)
	if status, has := l.Object["status"]; has {
		made["status"] = status
		if _, err := c.send(http.MethodPut, l.Path+"/"+name+"/status", plain, made, &made); err != nil {
			return "", err
		}
	}
	if l.Deleted {
		_, err := c.send(http.MethodDelete, l.Path+"/"+name, plain, nil, &made)
		return name, err
	}
	return name, nil
}

// read returns the server's view of an object.
func (c client) read(path, name string) (recorded, error) {
	out := recorded{Resource: resourceOf(path)}
	if _, err := c.send(http.MethodGet, path+"/"+name, plain, nil, &out.Object); err != nil {
		return out, err
	}
	var shown struct {
		Rows []struct{ Cells, Conditions json.RawMessage }
	}
	date, err := c.send(http.MethodGet, path+"/"+name, table, nil, &shown)
	if err == nil && len(shown.Rows) != 1 {
		err = fmt.Errorf("%s/%s has %d rows", path, name, len(shown.Rows))
	}
	if err != nil {
		return out, err
	}
	out.Date, out.Cells, out.Conditions = date, shown.Rows[0].Cells, shown.Rows[0].Conditions
	return out, nil
}

// resourceOf returns the group version and resource of the path of a collection.
func resourceOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")[1:]
	for i, part := range parts {
		if part == "namespaces" && i+2 < len(parts) {
			parts = append(parts[:i], parts[i+2:]...)
			break
		}
	}
	return strings.Join(parts, "/")
}

// columns returns the columns of all resources that can be listed.
func (c client) columns() (map[string]json.RawMessage, error) {
	var groups struct {
		Groups []struct {
			Versions []struct{ GroupVersion string }
		}
	}
	if _, err := c.send(http.MethodGet, "/apis", plain, nil, &groups); err != nil {
		return nil, err
	}
	versions := []string{"/api/v1"}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			versions = append(versions, "/apis/"+v.GroupVersion)
		}
	}
	out := map[string]json.RawMessage{}
	for _, version := range versions {
		if err := c.columnsOf(version, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// columnsOf adds the columns of the resources of a version.
func (c client) columnsOf(version string, out map[string]json.RawMessage) error {
	var list struct {
		Resources []struct {
			Name  string
			Verbs []string
		}
	}
	if _, err := c.send(http.MethodGet, version, plain, nil, &list); err != nil {
		return err
	}
	for _, r := range list.Resources {
		if strings.Contains(r.Name, "/") || !strings.Contains(strings.Join(r.Verbs, " "), "list") {
			continue
		}
		var t struct{ ColumnDefinitions json.RawMessage }
		if _, err := c.send(http.MethodGet, version+"/"+r.Name+"?limit=1", table, nil, &t); err != nil {
			return err
		}
		out[resourceOf(version+"/"+r.Name)] = t.ColumnDefinitions
	}
	return nil
}

// write writes a document, compressed.
func write(file string, document any) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(document); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}
