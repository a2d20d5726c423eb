package main

import "testing"

// What the cases ask of parts that the program does not have yet.

// A sweep of which everything failed leaves no point at 0 tokens/s in the history
// (SeraphimSerapis/tool-eval-bench#152).
func TestNoZeroInTheHistory(t *testing.T) {
	t.Skip("waits for the history of runs: there is nothing that a failed sweep could be written into")
}

// A key stands in no history (NVIDIA-NeMo/Guardrails#1501).
func TestSecretsStaySecretLater(t *testing.T) {
	for name, part := range map[string]string{
		"history": "the history of runs",
	} {
		t.Run(name, func(t *testing.T) { t.Skip("waits for " + part + ", which cannot hold a key before it exists") })
	}
}
