"""Drivers: which variables the loop works on, and when it ends."""
