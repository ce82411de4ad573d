// Command rbac prints the roles and bindings that a new cluster begins with, one JSON object a line and compressed, for server/auth/rbac. It
// reads them from a kube-apiserver that was started with an empty store:
//
//	GOWORK=off go run ./rbac https://127.0.0.1:6443 TOKEN >../../server/auth/rbac/bootstrap.jsonl.gz
//
// Metadata that the server sets is left out.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

const path = "/apis/rbac.authorization.k8s.io/v1/"

// resources are the resources in the order of the output, with their kinds.
var resources = [][2]string{
	{"clusterroles", "ClusterRole"}, {"clusterrolebindings", "ClusterRoleBinding"}, {"roles", "Role"}, {"rolebindings", "RoleBinding"},
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: rbac URL TOKEN")
	}
	out := gzip.NewWriter(os.Stdout)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, r := range resources {
		items, err := list(client, os.Args[1]+path+r[0], os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		for _, item := range items {
			line, err := bare(item, r[1])
			if err != nil {
				log.Fatal(err)
			}
			if _, err := out.Write(line); err != nil {
				log.Fatal(err)
			}
		}
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}

// list returns the items of a list.
func list(client *http.Client, url, token string) ([]map[string]any, error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, answer.Status)
	}
	var out struct{ Items []map[string]any }
	err = json.NewDecoder(answer.Body).Decode(&out)
	return out.Items, err
}

// bare returns an item as a line of JSON that a client could create it with.
func bare(item map[string]any, kind string) ([]byte, error) {
	item["apiVersion"], item["kind"] = "rbac.authorization.k8s.io/v1", kind
	metadata, _ := item["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(metadata, name)
	}
	if item["rules"] == nil {
		delete(item, "rules")
	}
	var line bytes.Buffer
	err := json.NewEncoder(&line).Encode(item)
	return line.Bytes(), err
}
