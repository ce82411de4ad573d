package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/value"
)

// ask sends the request of a step and returns the answer unchanged.
func (s *server) ask(ctx context.Context, step recording.Step, body []byte) (
	code int, answer value.Value, warnings []string, err error,
) {
	url := s.Base + step.Path
	if step.Query != "" {
		url += "?" + step.Query
	}
	request, err := http.NewRequestWithContext(ctx, step.Method, url, bytes.NewReader(body))
	if err != nil {
		return 0, value.Value{}, nil, err
	}
	if step.ContentType != "" {
		request.Header.Set("Content-Type", step.ContentType)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "") // writers without a name are then unknown
	response, err := s.Client.Do(request)
	if err != nil {
		return 0, value.Value{}, nil, err
	}
	text, err := io.ReadAll(response.Body)
	if err := response.Body.Close(); err != nil {
		return 0, value.Value{}, nil, err
	}
	if err != nil {
		return 0, value.Value{}, nil, err
	}
	answer, err = value.Parse(text)
	if err != nil {
		return 0, value.Value{}, nil, fmt.Errorf("%s %s answers %d %s: %w", step.Method, url, response.StatusCode, text, err)
	}
	return response.StatusCode, answer, response.Header.Values("Warning"), nil
}

// exchange sends a step and records the answer in it. $RV in its body becomes the resource version of the object at path.
func (s *server) exchange(ctx context.Context, step *recording.Step, path string) error {
	var body []byte
	switch {
	case step.Body.Kind() == value.KindString:
		body = []byte(step.Body.Str())
	case !step.Body.IsAbsent():
		sent := step.Body
		if metadata := sent.Get("metadata"); metadata.Get("resourceVersion").Str() == "$RV" {
			_, live, _, err := s.ask(ctx, recording.Step{Method: http.MethodGet, Path: path}, nil)
			if err != nil {
				return err
			}
			current := live.Get("metadata", "resourceVersion")
			sent = sent.With("metadata", metadata.With("resourceVersion", current))
		}
		body = sent.AppendJSON(nil)
	}
	code, answer, warnings, err := s.ask(ctx, *step, body)
	if err != nil {
		return err
	}
	step.Code, step.Response, step.Warnings = code, lasting(answer), warnings
	return nil
}

// lasting returns an answer without values that change from run to run.
func lasting(answer value.Value) value.Value {
	if details := answer.Get("details"); !details.IsAbsent() {
		answer = answer.With("details", details.With("uid", value.Value{}))
	}
	metadata := answer.Get("metadata")
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		metadata = metadata.With(name, value.Value{})
	}
	if entries := metadata.Get("managedFields"); !entries.IsAbsent() {
		var items []value.Value
		for entry := range entries.Items() {
			items = append(items, entry.With("time", value.Value{}))
		}
		metadata = metadata.With("managedFields", value.List(items...))
	}
	return answer.With("metadata", metadata)
}

// define creates a custom resource definition.
func (s *server) define(ctx context.Context, crd value.Value) error {
	step := recording.Step{
		Method: http.MethodPost, Path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ContentType: "application/json",
	}
	code, answer, _, err := s.ask(ctx, step, crd.AppendJSON(nil))
	if err != nil {
		return err
	}
	if code != http.StatusCreated {
		return fmt.Errorf("the definition %v is refused: %v", crd, answer)
	}
	return nil
}

// forgotten waits until the server's cache has the last change of the object at path. While the cache still has a deleted object, the
// server computes a patch, with warnings, before it answers 404.
func (s *server) forgotten(ctx context.Context, path string) error {
	for ctx.Err() == nil {
		code, _, _, err := s.ask(ctx, recording.Step{Method: http.MethodGet, Path: path}, nil)
		if err != nil {
			return err
		}
		cached, _, _, err := s.ask(ctx, recording.Step{Method: http.MethodGet, Path: path, Query: "resourceVersion=0"}, nil)
		if err != nil {
			return err
		}
		if code == cached {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return ctx.Err()
}

// served waits until the server serves the collection at path. Before, it answers without JSON.
func (s *server) served(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	list := recording.Step{Method: http.MethodGet, Path: path}
	for ctx.Err() == nil {
		if _, answer, _, err := s.ask(ctx, list, nil); err == nil && answer.Get("items").Kind() == value.KindList {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%s is not served: %w", path, ctx.Err())
}
