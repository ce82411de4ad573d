// Package download fetches texts from URLs. It stands apart because package net/http is large, and not every program that reads manifests
// fetches any.
package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxLength is the maximum length of a text, in bytes.
var maxLength int64 = 256 << 20

// Text returns the answer of a server for a URL. A limit of 0 means that it may take any time. The error is [context.DeadlineExceeded] if
// the answer takes longer, and a [*net/url.Error] if there is none.
//
// If keep is set, a copy is kept for later runs: see kept. An error beside data is a warning. It is a [*manifest.StaleError] if the data is the
// copy of an earlier run.
func Text(url string, limit time.Duration, keep bool) ([]byte, error) {
	ctx := context.Background()
	if limit > 0 {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if keep {
		return keptAt(url).answer(request)
	}
	data, _, err := get(request)
	return data, err
}

// get returns the answer of a server, with its header.
func get(request *http.Request) (data []byte, header http.Header, err error) {
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		return nil, nil, errNotModified
	default:
		return nil, nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	data, err = io.ReadAll(io.LimitReader(answer.Body, maxLength+1))
	if err == nil && int64(len(data)) > maxLength {
		return nil, nil, fmt.Errorf("more than %d MiB: fetch it to a file", maxLength>>20)
	}
	return data, answer.Header, err
}

// errNotModified is returned if a server says that a copy is what it has.
var errNotModified = fmt.Errorf("the server answers %d", http.StatusNotModified)
