"""P4Runtime's entities, one module each: conversion of messages to calls of the engine, and back."""
